// Generated from services/gateway/openapi by npm run generate. Do not edit.

export type paths = {
    "/applications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the applications of a retailer
         * @description The applications of the retailer, newest first. An application that exists when you read the first
         *     page is on exactly one page, however many are created meanwhile.
         *
         *     The list shows no personal data: whoever looks for an application needs its ids, status and
         *     creditors, and reads the applicants of the one that was looked for with `getApplication`.
         */
        get: operations["listApplications"];
        put?: never;
        /**
         * Create an application
         * @description Creates an application of a retailer, with a primary applicant and perhaps a co-applicant. The
         *     retailer is the one that `X-Service-Retailer-ID` names, else the body's `retailerId`; when both are
         *     given they must be the same. Needs a grant on the retailer.
         *
         *     `referenceNumber` is your own id of the application, unique per retailer: a second application with
         *     the same one is 409 `reference_number_taken`, and the message holds the existing application's id.
         */
        post: operations["createApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
            };
            cookie?: never;
        };
        /**
         * Read an application
         * @description An application with its applicants and its submissions. Of a social insurance number only the last three digits are shown. Needs a grant on the application's retailer.
         */
        get: operations["getApplication"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/submit": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit an application to creditors
         * @description Puts the application in front of one or more creditors, all of them or none. Each submission begins
         *     with the decision `AWAITING_DECISION` and causes the event awaitingDecision.
         *
         *     Needs a grant on the application's retailer, an active user of the retailer or its group who
         *     submits, the explicit credit consent of every applicant, and a worksheet with first payment date,
         *     interest rate and frequency. It needs no grant on the creditors: every creditor of the platform can
         *     be named, and one that does not exist is 404.
         */
        post: operations["submitApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/archive": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive an application
         * @description Closes an application of any status for good: it can no longer be submitted or commented on. It
         *     stays readable, and its submissions stay as they are: their creditors may still record decisions. Archiving an archived application changes nothing and succeeds.
         *
         *     Takes no body. Needs a grant on the application's retailer.
         */
        post: operations["archiveApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/retailers/{retailerId}/bureau-credentials/EQUIFAX": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Set a retailer's credentials at Equifax
         * @description Stores the credentials with which the retailer's credit files are pulled from Equifax, in the place of earlier ones; pulls that begin after the answer use them. No operation shows `securityCode` or `clientSecret` again. `baseUrl` begins with https and leads to a public host, except on a platform for development; any other, and a `clientId` or `clientSecret` that is missing or not of the transport, is 400 `invalid_bureau_credentials`.
         */
        put: operations["setEquifaxCredentials"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/retailers/{retailerId}/bureau-credentials/TRANSUNION": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Set a retailer's credentials at TransUnion
         * @description Stores the credentials with which the retailer's credit files are pulled from TransUnion, in the place of earlier ones; pulls that begin after the answer use them. No operation shows `password` again. `baseUrl` begins with https and leads to a public host, except on a platform for development; any other is 400 `invalid_bureau_credentials`. On a platform whose settings have no request to TransUnion, it is 400 `bureau_not_configured`.
         */
        put: operations["setTransUnionCredentials"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/retailers/{retailerId}/bureau-credentials/{source}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
                /** @example EQUIFAX */
                source: components["schemas"]["CreditFileSource"];
            };
            cookie?: never;
        };
        /**
         * Read which credentials a retailer has at a bureau
         * @description The credentials without their secrets. A retailer without credentials at the bureau is 404 `bureau_credentials_not_found`.
         */
        get: operations["getBureauCredentials"];
        put?: never;
        post?: never;
        /**
         * Remove a retailer's credentials at a bureau
         * @description Deletes the credentials. Pulls that begin after the answer are refused. Removing what is not set changes nothing.
         */
        delete: operations["removeBureauCredentials"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/applicants/{applicantId}/consents": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000f001 */
                applicantId: components["parameters"]["ApplicantId"];
            };
            cookie?: never;
        };
        /**
         * List an applicant's consents
         * @description The consents of an applicant, those that have ended or were revoked included, the latest capture first. A
         *     credit file can be pulled while one of them is neither revoked nor at its end.
         *
         *     Needs a grant on the application's retailer. An applicant that the application does not have, or an
         *     application outside your grants, is 404 with code `applicant_not_found`.
         */
        get: operations["listConsents"];
        put?: never;
        /**
         * Record an applicant's consent
         * @description Records that an applicant has agreed to an inquiry at a credit bureau: to which text, when, taken by whom, and
         *     until when. Submitting an application records a consent for each applicant as well; this operation is for a
         *     credit file that is pulled before, for a signed document, and for a consent that has ended. See *Consent to
         *     credit files*.
         *
         *     Needs a grant on the application's retailer. The user must be active and belong to the retailer or to its group.
         *
         *     | status | code | condition |
         *     |---|---|---|
         *     | 400 | `invalid_consent` | the consent was captured in the future, more than two years ago, or not after the applicant's consents for the purpose were last revoked; has ended, or ends more than two years after it was captured |
         *     | 400 | `ineligible_user` | the user does not exist, is inactive, or belongs to another retailer |
         *     | 404 | `applicant_not_found` | the application has no such applicant, or there is no such application within your grants |
         *     | 409 | `application_archived` | the application is archived |
         *     | 409 | `applicant_erased` | the applicant was erased |
         */
        post: operations["recordConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/applicants/{applicantId}/consents/{consentId}/revoke": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000f001 */
                applicantId: components["parameters"]["ApplicantId"];
                /** @example 0198c0de-0000-7000-8000-000000009001 */
                consentId: components["parameters"]["ConsentId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a consent
         * @description Ends a consent from now on, also that of an archived application, and with it every other consent of the
         *     applicant for the same purpose, with the same time and user. A pull that was requested on them and has not sent
         *     its inquiry yet fails with reason `CONSENT`; one that was sent goes on, and files that are there stay.
         *
         *     The consent stays listed, with the time of its revocation and the user, if `revokedBy` names one. Revoking it
         *     again changes nothing and answers with the first revocation. A consent that was captured after the revocation can be recorded then; one captured before is
         *     refused.
         *
         *     Needs a grant on the application's retailer.
         *
         *     | status | code | condition |
         *     |---|---|---|
         *     | 400 | `ineligible_user` | the user does not exist, is inactive, or belongs to another retailer |
         *     | 404 | `applicant_not_found` | the application has no such applicant, or there is no such application within your grants |
         *     | 404 | `consent_not_found` | the applicant has no such consent |
         */
        post: operations["revokeConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/creditors/{creditorId}/comment": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Comment as the creditor
         * @description Adds a comment of one of the creditor's users to the conversation about the application. Needs a
         *     grant on the creditor. The comment is queued for delivery to the retailer; see *Read the
         *     conversation*.
         *
         *     An application or creditor that does not exist within your grants, or an application not submitted
         *     to the creditor, is 400 with code `submission_not_found`. An archived application takes no
         *     comments: 400 with code `application_archived`.
         */
        post: operations["commentAsCreditor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/creditors/{creditorId}/retailer-comment": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Comment on behalf of a retailer's user
         * @description Adds a comment of one of the retailer's users and queues it for delivery to the creditor. Needs the
         *     permission `ENQUEUE_RETAILER_CHAT` and a grant on the application's retailer.
         *
         *     The user is the comment's author; your integration stays the audit actor. The user must be active,
         *     and belong to the application's retailer or to a retailer group that has access to it.
         *
         *     | status | code | condition |
         *     |---|---|---|
         *     | 400 | `ineligible_user` | the user does not exist, is inactive, or belongs to another retailer |
         *     | 400 | `application_archived` | the application is archived |
         *     | 400 | `application_not_submitted` | the application was submitted to no creditor |
         *     | 403 | `permission_missing` | the permission is missing |
         *     | 403 | `retailer_access_denied` | no grant on the retailer that `X-Service-Retailer-ID` names or that the application belongs to, or the application is not of that retailer's group |
         *     | 404 | `application_not_found` | there is no such application |
         *     | 404 | `conversation_not_found` | the application was submitted, but not to this creditor |
         */
        post: operations["commentAsRetailerUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/creditors/{creditorId}/conversation": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        /**
         * Read the conversation
         * @description The comments of both sides, newest first. Readable with a grant on the creditor or on the
         *     application's retailer, also once the application is archived. A submission without a comment has
         *     an empty conversation.
         *
         *     **Reading delivers.** A comment is `QUEUED` for the other side until an integration of that side
         *     reads it here; then it is `DELIVERED`, with the time and the integration of the first answer that
         *     held it. Later answers, to whichever integration, do not change that. No webhook announces a
         *     comment: to receive comments, read the conversation from time to time, and follow `nextCursor` until
         *     a page holds a comment that you know. A comment whose stored bytes were damaged is left out of its page.
         *
         *     You read as the creditor if you have a grant on it, else as the retailer. With grants on both, send
         *     `X-Service-Retailer-ID` to read as the retailer. `HEAD` delivers nothing.
         */
        get: operations["getConversation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/credit-file/{applicantId}/request": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /**
                 * @description An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000b001
                 */
                applicationId: string;
                /**
                 * @description The primary applicant or the co-applicant of the application. An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000f001
                 */
                applicantId: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a credit file
         * @description Has the applicant's credit file pulled from a bureau, with the retailer's credentials at that bureau. The
         *     answer comes at once, and the pull is work of its own: *Read a credit file* tells how far it is. Needs a
         *     grant on the application's retailer.
         *
         *     A pull is an inquiry that other creditors see on the applicant's file, so the same request never leads to
         *     two of them. The answer is an earlier pull instead of a new one
         *
         *     - when it has the same `requestId` and applicant, until the applicant is erased, also when this request
         *       names the other source;
         *     - while a pull of the same applicant and source is under way, whatever the `requestId`;
         *     - when a file of the same applicant and source is younger than 30 days. With `Prefer: force-pull` (RFC
         *       7240) the file is pulled again, for an integration with the permission `FORCE_PULL`, at most twice in
         *       24 hours for one person and source, unless the platform sets another number. Applicants are one person who have the
         *       same social insurance number, or the same names and date of birth, whichever retailers they have applied to.
         *
         *     *Read a credit file* then gives the pull of this answer, also when it is an earlier one.
         *
         *     Refused with 400: `consent_missing` unless the applicant has consented to inquiries, and the consent has
         *     neither ended nor been revoked; see *Consent to credit files*.
         *     `applicant_incomplete` without what an inquiry needs of the applicant, so that none is made in vain: first and last name;
         *     a current address with city and province, and with a street or a post-office box; and the age of majority of that
         *     province. The pointers in `errors` lead into the applicant.
         *     `bureau_not_configured` where the platform is not set up for the bureau.
         *     `bureau_credentials_missing` where the platform has no credentials of the retailer for the bureau.
         *     `force_pull_limit` for a person who has had as many forced pulls in 24 hours as there may be.
         *     `application_archived` for an archived application. `applicant_erased` for an applicant whose personal data was
         *     erased. `applicant_not_found` for an application or applicant
         *     that does not exist within your grants.
         */
        post: operations["requestCreditFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/credit-file/{applicantId}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /**
                 * @description An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000b001
                 */
                applicationId: string;
                /**
                 * @description The primary applicant or the co-applicant of the application. An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000f001
                 */
                applicantId: string;
            };
            cookie?: never;
        };
        /**
         * Read a credit file
         * @description The applicant's credit file, as far as the latest pull has brought it: the one that answered the last request.
         *     *Request a credit file* comes first. Needs a grant on the application's retailer. Each read is recorded.
         *
         *     | latest pull | answer | X-Credit-File-Status |
         *     |---|---|---|
         *     | under way | 200 with `source` and `requestedDate` alone, `Retry-After: 1` | `PENDING` |
         *     | complete | 200 with the file, which always has `id` and `hitType` | `COMPLETE` |
         *     | failed, with an earlier file | 200 with the earlier file | `FAILED` |
         *     | failed, without one | 404 `credit_file_failed`; `message` names the bureau, the reason and the bureau's code, if it gave one | `FAILED` |
         *     | outcome unknown, with an earlier file | 200 with the earlier file | `UNKNOWN` |
         *     | outcome unknown, without one | 404 `credit_file_outcome_unknown` | `UNKNOWN` |
         *     | none | 404 `credit_file_not_requested` | |
         *
         *     The earlier file may be of the other source. `NO_HIT` and the like are files of a complete pull, and no failures. An application or applicant that does
         *     not exist within your grants is 404 `applicant_not_found`.
         *
         *     With `Prefer: wait=N` (RFC 7240) the answer comes as soon as the pull has ended, and after N seconds at the
         *     latest, 30 at most. A server that stops, or that has too many reads waiting, answers at once with the
         *     present state.
         *
         *     `sin` is masked (`***-***-789`) unless the integration has the permission `READ_SIN`. `signedPdfUrl` opens the
         *     file as a PDF for 15 minutes, for whoever has the link.
         */
        get: operations["readCreditFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/credit-file/{applicantId}/pulls": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /**
                 * @description An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000b001
                 */
                applicationId: string;
                /**
                 * @description The primary applicant or the co-applicant of the application. An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000f001
                 */
                applicantId: string;
            };
            cookie?: never;
        };
        /**
         * List the pulls of an applicant's credit file
         * @description All pulls of the applicant, newest first, each with the evidence that it was permitted: who asked for it, on which consent, when the inquiry was sent, and what became of it. Needs a grant on the application's retailer. An application or applicant that does not exist within your grants is 404 `applicant_not_found`.
         */
        get: operations["listPulls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/retailers/{retailerId}/applicants/{applicantId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
                /** @example 0198c0de-0000-7000-8000-00000000f001 */
                applicantId: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erase an applicant
         * @description Erases the applicant's personal data and destroys the key with which the applicant's credit files are encrypted. From the answer on *Read a credit file* finds nothing, links to documents lead to none, a pull that is under way stores no file, and a request for a new one is refused. The application stays readable: of the applicant it has the id and `erasedAt`. It takes no further submission, consent to an inquiry or export (error code applicant_erased), and the payloads of its earlier exports are deleted, those of the other applicant with them: deliveries that are still to be sent or replayed end as dead. Who pulled and read what stays recorded, without personal data. Erasing again changes nothing. An applicant whom the retailer does not have is 404 `applicant_not_found`. After 503 the erasure has begun, and is completed as soon as the platform can.
         */
        delete: operations["eraseApplicant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/credit-files/{fileId}/document": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-000000004001 */
                fileId: string;
            };
            cookie?: never;
        };
        /**
         * Open a credit file as a PDF
         * @description What `signedPdfUrl` of a credit file leads to: the file as a PDF in the file's language. Takes no key: the link is signed, opens this file alone, and only for 15 minutes, so treat it like the file itself. It ends sooner with the consent of the file's pull, with the grant of the integration that was given the link, and when the application is archived: 403 `link_ended`. A link that is too old is 403 `link_expired`, one that was altered 403 `link_invalid`, one whose file is no longer kept 404 `credit_file_not_found`, one whose document is too large 404 `document_too_large`. A link opens the file twenty times in a minute, after which it is 429 `rate_limited`, and twice at once, beyond which it is 429 `too_many_under_way`, as are links while many documents of the retailer are being opened.
         */
        get: operations["readCreditFileDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/creditors/{creditorId}/decision": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        /**
         * Read the latest decision
         * @description The creditor's latest decision on the application. From its submission on an application has one:
         *     `AWAITING_DECISION`, until the creditor records another. The answer has the properties shown here;
         *     the other figures of a decision, such as `term`, are in *Read the history of decisions*.
         *
         *     Readable with a grant on the creditor or on the application's retailer. An application or creditor
         *     that does not exist within your grants, or an application not submitted to the creditor, is 400
         *     with code `submission_not_found`.
         */
        get: operations["getDecision"];
        put?: never;
        /**
         * Record a decision
         * @description Records the creditor's next decision. Any value may follow any value; every accepted decision is a
         *     new version, and the history keeps them all. Needs a grant on the creditor.
         *
         *     The decision's event goes to the webhook destinations once the answer is sent:
         *
         *     | decision | event |
         *     |---|---|
         *     | `BOOKED` | applicationBooked |
         *     | `APPROVED` | applicationApproved |
         *     | `CONDITIONALLY_APPROVED` | applicationConditionallyApproved |
         *     | `DECLINED` | applicationDeclined |
         *     | `PENDING_BANK_CONNECTION` | pendingBanking |
         *     | `INCOMPLETE`, `DOCUMENTS_INCOMPLETE` | documentsIncomplete, whose `status` is `INCOMPLETE` for both |
         *     | `WITHDRAWN` | none |
         *
         *     Terms that an event needs and the decision leaves out (`firstPaymentDate`, `paymentFrequency`,
         *     `interestRate`, and `term` for `termStretch`) are taken from the latest earlier decision that gave them, else from the worksheet.
         *
         *     An application or creditor that does not exist within your grants, or an application not submitted
         *     to the creditor, is 400 with code `submission_not_found`.
         */
        post: operations["recordDecision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/creditors/{creditorId}/income-status": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        /**
         * Read the income status
         * @description The income status that the creditor set last, and when. Both fields are left out until the creditor has set one. Readable with a grant on the creditor or on the application's retailer.
         */
        get: operations["getIncomeStatus"];
        put?: never;
        /**
         * Set the income status
         * @description Says whether the creditor requires a proof of the applicants' income, has verified the income, or
         *     waives the proof. The value replaces the earlier one. Needs a grant on the creditor.
         *
         *     An application or creditor that does not exist within your grants, or an application not submitted
         *     to the creditor, is 400 with code `submission_not_found`.
         */
        post: operations["setIncomeStatus"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/creditors/{creditorId}/decisions": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        /**
         * Read the history of decisions
         * @description All decisions of the creditor on the application, newest first, with every figure that was recorded. Readable with a grant on the creditor or on the application's retailer.
         */
        get: operations["listDecisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries to your destination
         * @description What was sent to your webhook destination, and what waits to be sent: newest first. A delivery is
         *     listed until 30 days after its end. An integration without a destination has an empty list. The
         *     deliveries to a destination that was removed are gone with it.
         *
         *     | state | meaning |
         *     |---|---|
         *     | `WAITING` | An earlier delivery of the same application is not finished. |
         *     | `DUE` | Being sent, or to be sent at `nextAttemptAt`. |
         *     | `DELIVERED` | Your receiver answered with 2xx. |
         *     | `DEAD` | Given up; `reason` says why. *Replay a delivery* sends it again. |
         *
         *     With `event`, a page may hold fewer deliveries than `limit`, or none, although there is a next one:
         *     go on until `nextCursor` is null.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The `webhook-id` that your receiver got, and the `deliveryId` of the list.
                 * @example 0198c0de-0000-7000-8000-000000005001
                 */
                deliveryId: components["parameters"]["DeliveryId"];
            };
            cookie?: never;
        };
        /**
         * Read a delivery and its attempts
         * @description The delivery and each attempt at it, oldest first, those before a replay included; the latest 1,000.
         *     The body that was sent is not kept for reading.
         *
         *     Where your receiver answered with another status than 2xx, the attempt shows the beginning of its answer, so
         *     that you see why it refused the webhook. At most the latest 20 answers are shown. Those to `applicationExported` and
         *     `integrationEnabled` are never kept: your receiver may repeat what it got, and that may be personal data or a
         *     secret. An answer is encrypted with a key that is made of your destination's signing secret, and is shown as long as
         *     that secret signs: after a rotation until the overlap ends.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-deliveries/{deliveryId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The `webhook-id` that your receiver got, and the `deliveryId` of the list.
                 * @example 0198c0de-0000-7000-8000-000000005001
                 */
                deliveryId: components["parameters"]["DeliveryId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay a delivery
         * @description Sends a delivery in state `DELIVERED` or `DEAD` again: with the same `webhook-id`, body and
         *     `webhook-sequence`, a signature and timestamp of now, and a new series of attempts. A receiver that
         *     passes over known values of `webhook-id` passes over the replay of a delivery that it has.
         *
         *     The delivery takes its former place in the order: it waits for earlier deliveries of the application
         *     that are pending, and later ones that wait go on waiting behind it. A later one that is being sent or
         *     retried already is not called back.
         *
         *     A delivery in state `DUE` that waits for its next attempt is due now instead, for example after you have
         *     repaired your receiver. The attempt is one of its ten: after the last one the delivery is `DEAD`. While
         *     the destination is left alone after failures, one delivery is tried first; the others follow when it
         *     succeeds. While the destination is paused, deliveries wait for the end of the pause.
         *
         *     | code | condition |
         *     |---|---|
         *     | `delivery_pending` | the delivery is `WAITING` for an earlier one of its application, or is being sent |
         *     | `destination_disabled` | nothing is sent to the destination; *Send a test event* enables it |
         *     | `delivery_unsendable` | the event has no body that could be sent: `reason` says what it lacks |
         *     | `grant_missing` | you have no grant any more by which you would receive the event |
         *     | `too_many_replays` | the delivery was replayed 100 times |
         */
        post: operations["replayDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-test-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event to your destination
         * @description Posts the example of a webhook on this page to your destination, signed like any other, with the
         *     header `webhook-test: true`. The answer tells how your receiver answered; a receiver that fails is no
         *     error of this operation.
         *
         *     A success counts as one of the destination: a disabled destination is enabled, and gets later events.
         *     Deliveries that were given up meanwhile stay `DEAD` until they are replayed. A failure changes
         *     nothing. A test event is sent once, is no delivery and is not listed; its `webhook-sequence` is 1.
         */
        post: operations["sendTestEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-destination": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read your destination
         * @description Where your webhooks go, which of them and how fast, whether your receiver answers, and whether the destination is paused or disabled. Only the platform changes the URL, the events, the rate limit and the secret.
         */
        get: operations["getDestination"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-destination/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause your destination
         * @description Your webhooks wait for `hours`, or until you resume the destination, for example during maintenance of your
         *     receiver. From five seconds after the answer on, no new request begins, except for test events; requests under way are
         *     not cut off. No event is lost: after the pause one delivery is sent first, and the others follow once it has
         *     succeeded, in the order of each application.
         *
         *     A pause uses up none of a delivery's attempts. The five days without a success after which a destination is disabled
         *     count from the end of the pause. Pausing a paused destination sets a new end, `hours` from now. A pause outlasts a
         *     change of the URL.
         */
        post: operations["pauseDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-destination/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume your destination
         * @description Ends a pause early. A destination that is not paused stays as it is: to enable one that is disabled, send a successful test event.
         */
        post: operations["resumeDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the users of a retailer
         * @description The users who belong to the retailer, or to a retailer group that has access to it, in the order of
         *     their ids. Inactive users are among them unless `active` filters them out. A `userId` of this list is
         *     the author of a comment, or the user who submits an application; both need an active user.
         *
         *     A user may also belong to retailers and groups beyond this context: `retailerIds` holds the retailer
         *     alone and `retailerGroupIds` its group alone, each only where the user belongs to it.
         *
         *     A retailer that does not exist within your grants is 400 with code `retailer_not_found`.
         */
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/retailers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the retailers granted to your integration
         * @description The retailers that your integration may act for, in the order of their ids: the values that `X-Service-Retailer-ID` may have.
         */
        get: operations["listRetailers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/creditors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the creditors granted to your integration
         * @description The creditors that the platform has granted to your integration, in the order of their ids. While `disabled` is true, your integration is disabled for the creditor and may do nothing on its side.
         */
        get: operations["listCreditors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/creditors/enable-integration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable the integration for a creditor
         * @description The last step of the interactive login flow: sets the status `ENABLED`. It needs the status
         *     `REQUESTED`; in any other, and before any was set, the answer is 409 and nothing changes. Set
         *     `REQUESTED` with *Set the status of the integration*.
         *
         *     Needs a grant on the creditor, which the platform alone gives: enabling adds no grant. The status
         *     may be `DISABLED`, which blocks every other operation on the creditor's side. A creditor that does
         *     not exist within your grants is 400 with code `creditor_not_found`.
         */
        post: operations["enableIntegration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/creditors/disable-integration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable the integration for a creditor
         * @description Sets the status `DISABLED`, whatever it was, and records the reason. Within five seconds every
         *     operation on the creditor's side answers as without a grant, except for the four on the status
         *     itself, and the creditor's events no longer come by the grant on the creditor. A grant on a retailer
         *     goes on working. Any other status opens the creditor's side again: set `REQUESTED`, then enable.
         *
         *     Disabling what is disabled replaces the reason. Needs a grant on the creditor. A creditor that does
         *     not exist within your grants is 400 with code `creditor_not_found`.
         */
        post: operations["disableIntegration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/creditors/integration-status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set the status of the integration for a creditor
         * @description Sets one of the three statuses of the enabling itself, whatever the status was:
         *
         *     | status | meaning |
         *     |---|---|
         *     | `REQUESTED` | The creditor's enabling is asked for; *Enable the integration* can follow. |
         *     | `WAITING_FOR_SECOND_ACTIVATION_STEP` | The creditor has a further step to take. |
         *     | `FAILED_TO_ENABLE` | The enabling failed. |
         *
         *     None of the three blocks anything, so each also ends `DISABLED`: at most five seconds after the
         *     answer the operations on the creditor's side work again, and until then they answer as without a
         *     grant. A `status` outside the three is
         *     422; a missing field, or a creditorId that is no UUID, is 400. Needs a grant on the creditor. A
         *     creditor that does not exist within your grants is 400 with code `creditor_not_found`.
         */
        post: operations["setIntegrationStatus"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/creditors/{creditorId}/integration": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        /**
         * Read the status of the integration for a creditor
         * @description The status, when it was set, and in status `DISABLED` the reason that was given. All three are left out until a status is set. Needs a grant on the creditor.
         */
        get: operations["getIntegrationEnablement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/integrations/{integrationId}/retailers/{retailerId}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable an integration for a retailer, at the retailer's wish
         * @description The retailer's own enabling of the integration: grants the retailer to the integration, and posts
         *     the webhook integrationEnabled to the integration's destination, and to no other. `configJson` is
         *     the result of the integration's configuration: any object of at most 32 KiB and 16 levels. It may
         *     hold secrets: it is kept encrypted, appears in the webhook alone, and no operation reads it back.
         *
         *     The platform calls this for a retailer whose user asked for it. An integration's key is refused: an
         *     integration would grant itself any retailer.
         *
         *     Enabling again with an equal configuration (in any order of members) changes nothing and posts
         *     nothing. Another configuration, or none where there was one, replaces the earlier one and posts one
         *     webhook. So does enabling after *Withdraw a retailer from an integration*, which ends the enabling,
         *     and the first enabling of a retailer that the platform alone had granted. The webhook has the name
         *     that the retailer has when it enables. An integration that has no destination then misses it.
         */
        post: operations["enableForRetailer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/applications/{applicationId}/export": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export an application to an integration
         * @description Sends the whole application to one integration, yours or another: the applicants with their
         *     addresses and employments, and the worksheet and vehicle of its submission to one creditor. The
         *     integration receives the webhook `applicationExported`.
         *
         *     The export holds what the application holds now. Social insurance numbers are null in it, unless the receiving
         *     integration has the permission `READ_SIN` at the time of the attempt, as also for a replay. It is kept encrypted for 45 days, every attempt to
         *     deliver it has otherwise the same bytes, and after the 45 days nothing of it can be sent any more; who exported
         *     which application to whom, and when, stays recorded. Each request
         *     makes an export of its own; repeat one with its `Idempotency-Key`.
         *
         *     Needs a grant on the application's retailer. The receiving integration needs a webhook destination,
         *     whose event filter, if it has one, names `applicationExported`, and a grant on the application's
         *     retailer or on the creditor, now and when the webhook is queued.
         *
         *     | status | code | condition |
         *     |---|---|---|
         *     | 404 | `application_not_found` | there is no such application within your grants |
         *     | 404 | `submission_not_found` | the application was not submitted to the creditor |
         *     | 404 | `integration_not_found` | no integration with such a destination and grant has this id |
         *     | 409 | `application_archived` | the application is archived |
         *     | 409 | `applicant_erased` | an applicant was erased |
         */
        post: operations["exportApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/acts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what the platform's administration did
         * @description Who registered, granted, issued, revoked and grouped what, and when: every change by a platform key of integrations,
         *     their keys, grants and destinations, and of the directory, newest first. Acts are kept for good, from the version on that
         *     records them. A request that is repeated is listed again, unless it was recognised by its `Idempotency-Key`.
         *     What the administration did with credit files, such as an erasure, is in their audit log.
         */
        get: operations["listPlatformActs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/integrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register an integration
         * @description Takes the id the integration shall have, or makes one. An integration that has the id stays as it is: the answer is what it has, or 409 `integration_exists` where the request names another name, permissions or rate limit. What the request leaves out is not compared. *Change an integration* changes them.
         */
        post: operations["registerIntegration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/integrations/{integrationId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        /**
         * Read an integration
         * @description What the platform has set for an integration, with the ids of its keys: to replace a key, issue another, have the integration use it, and revoke the old one by its id. No answer shows a key or a secret again.
         */
        get: operations["getIntegration"];
        /**
         * Change an integration
         * @description Replaces the name, the permissions and the rate limit: without `rateLimit`, the limit of the installation applies. Takes effect within five seconds.
         */
        put: operations["changeIntegration"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/integrations/{integrationId}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue a key
         * @description Makes a key for the integration. The answer shows it this once; only its digest is kept. An integration has at most 100 keys that are not revoked: the next is 409 `too_many_keys` until one is revoked.
         */
        post: operations["issueKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/integrations/{integrationId}/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-000000001001 */
                keyId: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description At most five seconds after the answer the key opens nothing.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/integrations/{integrationId}/retailers/{retailerId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Grant a retailer to an integration
         * @description Takes effect within five seconds. The id may be one that is not registered yet: until then the integration's list of retailers does not show it.
         */
        put: operations["grantRetailer"];
        post?: never;
        /**
         * Withdraw a retailer from an integration
         * @description Takes effect within five seconds, also for the webhooks that wait or are to be tried again: what the integration would no longer receive is `DEAD` with the reason grant_missing from its next attempt on. Withdrawing what is not granted changes nothing.
         */
        delete: operations["withdrawRetailer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/integrations/{integrationId}/creditors/{creditorId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Grant a creditor to an integration
         * @description Grants on creditors come from the platform only. Takes effect within five seconds. The id may be one that is not registered yet: until then the integration's list of creditors does not show it.
         */
        put: operations["grantCreditor"];
        post?: never;
        /**
         * Withdraw a creditor from an integration
         * @description Takes effect within five seconds, also for the webhooks that wait or are to be tried again: what the integration would no longer receive is `DEAD` with the reason grant_missing from its next attempt on. Withdrawing what is not granted changes nothing.
         */
        delete: operations["withdrawCreditor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/integrations/{integrationId}/destination": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Set where the integration's webhooks go
         * @description Each event is posted to this URL with the event's own path appended to the URL's path, before a query. It must begin with https and lead to a public host, at port 443 or 8443, with no user name, password or fragment in it. The host is spelled as it is looked up, without escapes and without a final dot; an internationalised name may be in Unicode. What no path or query may hold, such as `|` or `[`, is sent percent-encoded. A platform for development, such as that of `npm start`, also takes http and addresses of loopback at any port. The first time, the answer shows the signing secret, this once; a later change of the URL keeps the secret and shows none (*Rotate the secret* makes a new one). A destination that was disabled, for it answered 410 or failed for five days, is sent to again once it is set, also to the URL that it has. Repeated with its `Idempotency-Key`, the request changes nothing and shows the same answer, with the secret. A change is in force when it is answered, after some two seconds: from then on no request to the earlier URL begins.
         *
         *     With `events`, the integration gets the named webhooks alone, from now on. A request without `events` removes such a filter. What a filter left out is not sent later, nor is it listed; what was queued before is still sent. Replays and test events ignore the filter. Without `applicationExported` in it, nothing can be exported to the integration.
         *
         *     With `deliveriesPerSecond`, a small server gets no more webhooks in a second than that. The others wait, in the order of each application, and none is given up for it. What the rate has left unused may come together: in any time, the webhooks of one second more than the rate, at most. With 1, webhooks are at least a second apart, and one comes every 1.3 seconds. A change takes effect within seconds, also for what waits; a request without `deliveriesPerSecond` removes the limit.
         */
        put: operations["setDestination"];
        post?: never;
        /**
         * Remove the integration's webhook destination
         * @description Deletes the URL and every secret. The answer comes after some two seconds, and from then on no request to the URL begins. Pending deliveries become dead within two minutes, with the reason `destination_removed`, and later events go nowhere until a destination is set: a new one, with its own `destinationId` and secret, whose `webhook-sequence` begins at 1. Removing what is not set changes nothing.
         */
        delete: operations["removeDestination"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/integrations/{integrationId}/destination/secret": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret that signs the integration's webhooks
         * @description Makes a new secret, which the answer shows, this once. The answer comes after some two seconds, and from then on every attempt is signed with it, retries included: `X-SERVICE-SIGNATURE` with the new secret alone, `webhook-signature` with the new and the earlier ones, until the overlap ends. A rotation makes no earlier secret sign longer than before it, so `overlapHours` of 0 revokes all of them. At most three earlier secrets sign beside the new one; a rotation that would make it four is 409 `too_many_secrets`. Without a destination the answer is 404 `destination_not_found`.
         */
        post: operations["rotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/retailers/{retailerId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Register a retailer
         * @description Creates the record or replaces it. An integration with a grant on one retailer of a group reaches the applications of all of them, so a retailer that joins others in a group needs the permission `MANAGE_INTEGRATIONS`, too: without it, the request is 403 `permission_missing`.
         */
        put: operations["registerRetailer"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/retailer-groups/{retailerGroupId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a101 */
                retailerGroupId: string;
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Register a group of retailers
         * @description Creates the record or replaces it.
         */
        put: operations["registerRetailerGroup"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/users/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000e001 */
                userId: string;
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Register a user of retailers
         * @description Creates the record or replaces it.
         */
        put: operations["registerUser"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/creditors/{creditorId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Register a creditor
         * @description Creates the record or replaces it.
         */
        put: operations["registerCreditor"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay many deliveries
         * @description Sends all deliveries to your destination again that match the body and are in its `state` now, as
         *     *Replay a delivery* does: with the same `webhook-id`, body and `webhook-sequence`, and in the order of
         *     each application. An empty object matches every delivery that is `DEAD`.
         *
         *     The answer comes at once, and *Read a replay* tells how far it is. The deliveries go back into the
         *     queue from the oldest on, a few at a time and normally at most 100 in a second, as long as at least half of the
         *     requests that your receiver gets at once are left for other deliveries: new events do not wait for a
         *     replay, unless they are of the same application. A receiver that fails slows the replay down. A restart
         *     of the platform neither loses nor repeats any of it.
         *
         *     A delivery is skipped if it never had a body that could be sent, or was replayed 100 times, or was
         *     replayed alone or deleted since it was counted. Your destination has one replay at a time.
         *
         *     An event that you would not receive any more, because your grant was withdrawn or
         *     disabled, is not sent: its delivery is `DEAD`, and its `reason` says so.
         *
         *     | code | condition |
         *     |---|---|
         *     | `invalid_range` | `createdBefore` is not later than `createdFrom` |
         *     | `destination_not_found` | your integration has no webhook destination |
         *     | `destination_disabled` | nothing is sent to the destination; *Send a test event* enables it |
         *     | `replay_under_way` | an earlier replay has not ended; `message` names it, or says that it is the platform's |
         */
        post: operations["replayDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-replays/{replayId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-000000006001 */
                replayId: components["parameters"]["ReplayId"];
            };
            cookie?: never;
        };
        /**
         * Read a replay
         * @description How far a replay is. It can be read for 30 days after its end.
         *
         *     | state | meaning |
         *     |---|---|
         *     | `COUNTING` | The deliveries that match are being counted. |
         *     | `RUNNING` | Deliveries go back into the queue. |
         *     | `COMPLETED` | Each delivery that matched is back in the queue or skipped. *List the deliveries to your destination* shows what became of them. |
         *     | `STOPPED` | Your destination was disabled or removed meanwhile; `reason` says which. |
         *     | `CANCELLED` | Ended by *Cancel a replay*. |
         *
         *     After `STOPPED` or `CANCELLED`, a new replay of `DEAD` deliveries takes those that remained, and those
         *     that are `DEAD` again. One of `DELIVERED` deliveries begins anew: set its `createdFrom`.
         */
        get: operations["getReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook-replays/{replayId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0198c0de-0000-7000-8000-000000006001 */
                replayId: components["parameters"]["ReplayId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a replay
         * @description Ends a replay. What it has put back into the queue is sent; what remained stays as it is. A replay that
         *     has ended is not changed.
         */
        post: operations["cancelReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
};
export type webhooks = {
    integrationEnabled: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A retailer enabled the integration
         * @description Posted to your destination's URL with `/integration-enabled` appended, when a retailer enables your
         *     integration or gives it another configuration. It goes to the enabled integration only. From then on
         *     the retailer is granted to you. The signature header is `X-INTEGRATION-SIGNATURE`.
         *
         *     Webhooks of one retailer come in order, and `webhook-sequence` counts them.
         */
        post: operations["integrationEnabled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    applicationBooked: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The creditor booked the loan
         * @description Posted to your destination's URL with `/application-booked` appended.
         */
        post: operations["applicationBooked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    applicationApproved: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The creditor approved
         * @description Posted to your destination's URL with `/application-approved` appended.
         */
        post: operations["applicationApproved"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    applicationConditionallyApproved: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The creditor approved under conditions
         * @description Posted to your destination's URL with `/application-conditionally-approved` appended.
         */
        post: operations["applicationConditionallyApproved"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    documentsIncomplete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The creditor misses documents or information
         * @description Posted to your destination's URL with `/documents-incomplete` appended.
         */
        post: operations["documentsIncomplete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    awaitingDecision: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An application was submitted and awaits a decision
         * @description Posted to your destination's URL with `/awaiting-decision` appended.
         */
        post: operations["awaitingDecision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    pendingBanking: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The creditor waits for a bank connection
         * @description Posted to your destination's URL with `/pending-banking` appended.
         */
        post: operations["pendingBanking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    applicationDeclined: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The creditor declined
         * @description Posted to your destination's URL with `/application-declined` appended.
         */
        post: operations["applicationDeclined"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    applicationExported: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A finance manager exported an application to your integration
         * @description Posted to your destination's URL with `/application-exported` appended, to the integration that the
         *     application was exported to and to no other. It holds personal data, for an integration with the permission
         *     `READ_SIN` also social insurance numbers: keep it as carefully as the platform does, and never log it.
         *
         *     Deliveries of one application come in order, so this one is numbered with those of the decisions. A
         *     field that nobody gave is `null` where its type has `null`, and left out otherwise. Amounts are
         *     objects with a currency, unlike in requests; `frequency` has underscores, unlike in the webhooks of
         *     decisions.
         */
        post: operations["applicationExported"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
};
export type components = {
    schemas: {
        /**
         * @description `SAVED`: complete enough to be submitted, as every application created here is. `SUBMITTED`: in front of one creditor or more. `ARCHIVED`: see *Archive an application*. `STARTED` and `DRAFT`: earlier stages, which no operation here leads to.
         * @enum {string}
         */
        ApplicationStatus: "STARTED" | "DRAFT" | "SAVED" | "SUBMITTED" | "ARCHIVED";
        /** @description An application without its applicants. */
        ApplicationSummary: {
            /** Format: uuid */
            applicationId: string;
            /** Format: uuid */
            retailerId: string;
            type: components["schemas"]["ApplicationType"];
            status: components["schemas"]["ApplicationStatus"];
            referenceNumber?: string;
            /** @description The creditors that have the application, in the order in which they got it. */
            submissions: {
                /** Format: uuid */
                creditorId: string;
                /** Format: date-time */
                submittedAt: string;
            }[];
            /** Format: date-time */
            createdAt: string;
        };
        /** @enum {string} */
        ApplicationType: "APPROVAL" | "PRE_APPROVAL";
        /**
         * @description What the co-applicant is to the primary applicant.
         * @enum {string}
         */
        Relationship: "COMMON_LAW" | "EMPLOYER" | "FRIEND" | "IN_LAW" | "OTHER" | "PARENT" | "SIBLING" | "SPOUSE";
        ApplicationWrite: {
            /**
             * Format: uuid
             * @description Required unless X-Service-Retailer-ID names the retailer.
             */
            retailerId?: string;
            type: components["schemas"]["ApplicationType"];
            referenceNumber?: string;
            primaryApplicant: components["schemas"]["ApplicantWrite"];
            coApplicant?: components["schemas"]["ApplicantWrite"];
            relationship?: components["schemas"]["Relationship"];
        };
        Application: {
            /** Format: uuid */
            applicationId: string;
            /** Format: uuid */
            retailerId: string;
            type: components["schemas"]["ApplicationType"];
            status: components["schemas"]["ApplicationStatus"];
            referenceNumber?: string;
            primaryApplicant: components["schemas"]["Applicant"];
            coApplicant?: components["schemas"]["Applicant"];
            relationship?: components["schemas"]["Relationship"];
            submissions: components["schemas"]["Submission"][];
            /** Format: date-time */
            createdAt: string;
        };
        ApplicantWrite: {
            /** @description Required unless `lastName` is given, for a person with one name. */
            firstName?: string;
            /** @description Required unless `firstName` is given. */
            lastName?: string;
            /** @description Social insurance number, nine digits of which the last is the check digit. Sealed at rest. *Read an application* masks it; the webhook applicationExported has it in full. */
            sin?: string;
            /**
             * Format: date
             * @description In the past, and at most 120 years ago.
             */
            dateOfBirth: string;
            phoneNumber?: components["schemas"]["PhoneNumber"];
            /** Format: email */
            email?: string;
            addressHistory?: components["schemas"]["Address"][];
            employmentHistory?: components["schemas"]["Employment"][];
        };
        /** @description With a name and `dateOfBirth` always, unless the applicant was erased: then `applicantId` and `erasedAt` are all that is left, with empty histories of addresses and employments. */
        Applicant: {
            /** Format: uuid */
            applicantId: string;
            /**
             * Format: date-time
             * @description When the applicant's personal data was erased. Absent for any other applicant.
             */
            erasedAt?: string;
            firstName?: string;
            lastName?: string;
            /** @description The last three digits: `***-***-286`. */
            sin?: string;
            /** Format: date */
            dateOfBirth?: string;
            phoneNumber?: string;
            email?: string;
            addressHistory?: components["schemas"]["Address"][];
            employmentHistory?: components["schemas"]["Employment"][];
        };
        Address: {
            /**
             * Format: uuid
             * @description Yours, or one that the platform makes. Answers and exports have one always.
             */
            id?: string;
            /** @description Such as `CURRENT` or `PREVIOUS`. */
            addressType?: string;
            apartmentSuite?: string;
            streetNo?: string;
            streetName?: string;
            streetType?: string;
            direction?: components["schemas"]["Direction"];
            pOBoxNumber?: string;
            city?: string;
            province?: components["schemas"]["Province"];
            postalCode?: components["schemas"]["PostalCode"];
            /** @description The address in one line, as it was searched for. */
            searchAddress?: string;
            residenceType?: components["schemas"]["ResidenceType"];
            monthlyRentOrMortgage?: components["schemas"]["AmountFromZero"];
            yearsAtAddress?: number;
            monthsAtAddress?: number;
        };
        Employment: {
            /**
             * Format: uuid
             * @description Yours, or one that the platform makes. Answers and exports have one always.
             */
            id?: string;
            employerName?: string;
            occupation?: string;
            status?: components["schemas"]["EmploymentStatus"];
            type?: components["schemas"]["EmploymentType"];
            employmentPhone?: components["schemas"]["PhoneNumber"];
            /** @description Per pay period of incomeFrequency. */
            grossIncome?: components["schemas"]["AmountFromZero"];
            incomeFrequency?: components["schemas"]["Frequency"];
            yearsWorked?: number;
            monthsWorked?: number;
            additionalIncomeSources?: components["schemas"]["IncomeSource"][];
            /** @description The employer's address from here on. */
            apartmentSuite?: string;
            streetNo?: string;
            streetName?: string;
            streetType?: string;
            direction?: components["schemas"]["Direction"];
            city?: string;
            province?: components["schemas"]["Province"];
            postalCode?: components["schemas"]["PostalCode"];
        };
        /** @description With area code, and with country code outside of North America; an extension behind `ext.`, `x` or `poste`. Answers and exports have it in the form of E.164, such as `+15145550143 ext. 12`. */
        PhoneNumber: string;
        /** @description A Canadian one, in capitals or not, with any spaces and dashes between its halves. Answers and exports have it as Canada Post writes it, such as `K1A 0B1`. Its first letter must agree with the province. */
        PostalCode: string;
        /** @enum {string} */
        Direction: "N" | "NE" | "E" | "SE" | "S" | "SW" | "W" | "NW";
        /** @enum {string} */
        ResidenceType: "RENT" | "OWN_FREE_AND_CLEAR" | "OWN_WITH_MORTGAGE" | "OWN_MOBILE_HOME" | "RESERVE_HOUSING" | "WITH_PARENTS" | "OTHER";
        /** @enum {string} */
        EmploymentStatus: "FULL_TIME" | "FULL_TIME_PROBATION" | "PART_TIME" | "PART_TIME_CASUAL" | "RETIRED" | "SEASONAL_SUMMER" | "SEASONAL_WINTER" | "SELF_EMPLOYED" | "UNEMPLOYED";
        /** @enum {string} */
        EmploymentType: "AT_HOME" | "EXECUTIVE" | "LABOURER" | "MANAGEMENT" | "OFFICE_STAFF" | "OTHER" | "PRODUCTION" | "PROFESSIONAL" | "RETIRED" | "SALES" | "SELF_EMPLOYED" | "SERVICE" | "STUDENT" | "TRADES" | "UNEMPLOYED";
        /** @enum {string} */
        IncomeSource: "CAR_ALLOWANCE" | "CHILD_SUPPORT" | "DISABILITY_PAYMENTS" | "INVESTMENT_INCOME" | "PENSIONS" | "RENTAL_INCOME" | "WORKERS_COMPENSATION" | "OTHER";
        SubmissionWrite: {
            /**
             * Format: uuid
             * @description The retailer's user who submits.
             */
            submittedByUserId: string;
            /** @description An application can be submitted to 25 creditors, over all of its submissions. */
            creditorIds: string[];
            /** @description One for each applicant of the application. */
            consents: components["schemas"]["Consent"][];
            worksheet: components["schemas"]["Worksheet"];
        };
        /** @description An applicant's explicit agreement that credit information about them is asked for and shared. It is recorded as a consent of the applicant that holds for a year, unless the applicant has agreed to the same text and document before and that consent ends at most 30 days earlier. */
        Consent: {
            /** Format: uuid */
            applicantId: string;
            creditConsent: boolean;
            /** @description The version of the text that the applicant has agreed to. Without it, `unspecified`. */
            textVersion?: string;
            /** @description SHA-256 of the document that the applicant has signed, in lower-case hex. */
            documentSha256?: string;
        };
        Submission: {
            /** Format: uuid */
            creditorId: string;
            /** Format: date-time */
            submittedAt: string;
            worksheet: components["schemas"]["Worksheet"];
        };
        EquifaxCredentialsWrite: {
            /** @description A letter and three digits. */
            customerCode: string;
            /** @description The member number. */
            customerNumber: string;
            securityCode: string;
            /**
             * @description How the bureau takes the retailer's inquiries: as a form with a token by client credentials, by SOAP 1.2, or as a form without a token.
             * @enum {string}
             */
            transport: "OAUTH" | "SOAP" | "FORM";
            /** Format: uri */
            baseUrl: string;
            /** @description Required with the transport `OAUTH`, and refused with the others. */
            clientId?: string;
            /** @description Required with the transport `OAUTH`, and refused with the others. */
            clientSecret?: string;
        };
        TransUnionCredentialsWrite: {
            memberCode: string;
            password: string;
            /** Format: uri */
            baseUrl: string;
        };
        BureauCredentials: {
            source: components["schemas"]["CreditFileSource"];
            /** @description The member number or code by which the bureau knows the retailer. */
            member: string;
            baseUrl: string;
            /** Format: date-time */
            setAt: string;
        };
        Error: {
            /**
             * @description The HTTP status again.
             * @default 400
             */
            status: number;
            /** @description What is wrong, for people. */
            message: string;
            /** @description What is wrong, for programs. */
            code: string;
            requestId: string;
            /** @description The fields at fault; for a body that cannot be read, the whole body, with an empty pointer. */
            errors?: components["schemas"]["FieldError"][];
        };
        FieldError: {
            /** @description JSON Pointer (RFC 6901), such as `/decision`. */
            pointer: string;
            message: string;
            /**
             * @description Where the parameter is; absent when the pointer leads into the body.
             * @enum {string}
             */
            in?: "path" | "query" | "header";
        };
        /** @description The same error as problem details (RFC 9457). */
        Problem: {
            /** @description Always `about:blank`; `code` tells the kind. */
            type: string;
            title: string;
            status: number;
            detail: string;
            code: string;
            requestId: string;
            errors?: components["schemas"]["FieldError"][];
        };
        /** @description Canadian dollars, with two decimals at most. */
        Amount: number;
        /** @description Canadian dollars, with two decimals at most. */
        AmountFromZero: number;
        /** @description Per cent per year, with five decimals at most. */
        Rate: number;
        /** @description Months. */
        Months: number;
        /**
         * Format: date
         * @description Of the years 2000 to 2100.
         */
        PaymentDate: string;
        /** @enum {string} */
        Frequency: "MONTHLY" | "SEMI_MONTHLY" | "WEEKLY" | "BI_WEEKLY";
        /** @enum {string} */
        Province: "AB" | "BC" | "MB" | "NB" | "NL" | "NS" | "NT" | "NU" | "ON" | "PE" | "QC" | "SK" | "YT";
        /** @description Give it as `cursor` to get the next page; null on the last one. A page has at most `limit` records in the order of the list, and fewer or none also where a next page follows. */
        NextCursor: string | null;
        /**
         * @description What the applicant has agreed to, an inquiry for the credit application.
         * @enum {string}
         */
        ConsentPurpose: "CREDIT_APPLICATION";
        ConsentWrite: {
            purpose: components["schemas"]["ConsentPurpose"];
            /** @description The version of the text that the applicant has agreed to. Nonblank, without control characters. */
            textVersion: string;
            /** @description SHA-256 of the document that the applicant has signed, in lower-case hex. */
            documentSha256?: string;
            /**
             * Format: date-time
             * @description When the applicant agreed; now when left out. Less than two years ago, and not in the future beyond the five minutes by which clocks may differ; after the last revocation of a consent of the applicant.
             */
            capturedAt?: string;
            /**
             * Format: uuid
             * @description The retailer's user who took the consent, as listed by `GET /users`.
             */
            capturedBy: string;
            /**
             * Format: date-time
             * @description When the consent ends; a year after `capturedAt` when left out, and at most two years after it. In the future.
             */
            expiresAt?: string;
        };
        ConsentRevocation: {
            /**
             * Format: uuid
             * @description The retailer's user who revokes the consent, as listed by `GET /users`.
             */
            revokedBy?: string;
        };
        RecordedConsent: {
            /** Format: uuid */
            consentId: string;
            /** Format: uuid */
            applicantId: string;
            purpose: components["schemas"]["ConsentPurpose"];
            /** @description `unspecified` for a submission that named no version. */
            textVersion: string;
            /** @description Absent when there is no document. */
            documentSha256?: string;
            /** Format: date-time */
            capturedAt: string;
            /**
             * Format: uuid
             * @description The retailer's user who took it.
             */
            capturedBy: string;
            /**
             * Format: date-time
             * @description When the platform got it.
             */
            recordedAt: string;
            /** Format: date-time */
            expiresAt: string;
            /**
             * Format: date-time
             * @description Absent unless revoked.
             */
            revokedAt?: string;
            /**
             * Format: uuid
             * @description The retailer's user who revoked it; absent when the integration named none.
             */
            revokedBy?: string;
        };
        /** @description Nonblank text, stored and shown as given. */
        CommentText: string;
        CreditorComment: {
            /** @description The name of the creditor's user who comments. Nonblank, without control characters. */
            userName: string;
            comment: components["schemas"]["CommentText"];
        };
        RetailerUserComment: {
            /**
             * Format: uuid
             * @description The author, as listed by `GET /users` in the same retailer context.
             */
            userId: string;
            comment: components["schemas"]["CommentText"];
        };
        Comment: {
            /** Format: uuid */
            id: string;
            /**
             * @description For whom the author wrote.
             * @enum {string}
             */
            side: "RETAILER" | "CREDITOR";
            author: {
                /** @description On the retailer's side, the user's name at the time of the comment. */
                userName: string;
                /**
                 * Format: uuid
                 * @description The retailer's user; absent on the creditor's side.
                 */
                userId?: string;
            };
            comment: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: uuid
             * @description The integration that added the comment.
             */
            integrationId: string;
            /** @description Whether the comment has reached the other side. */
            delivery: {
                /** @enum {string} */
                state: "QUEUED" | "DELIVERED";
                /**
                 * Format: date-time
                 * @description When the other side first read the comment; absent while it is queued.
                 */
                deliveredAt?: string;
                /**
                 * Format: uuid
                 * @description The integration that first read it; absent while it is queued.
                 */
                integrationId?: string;
            };
        };
        /** @enum {string} */
        CreditFileStatus: "PENDING" | "COMPLETE" | "FAILED" | "UNKNOWN";
        /**
         * @description The bureau to pull from.
         * @enum {string}
         */
        CreditFileSource: "EQUIFAX" | "TRANSUNION";
        CreditFileRequest: {
            source: components["schemas"]["CreditFileSource"];
            /** @description Your own id of the request. Given again for the same applicant, it leads to the same pull and to no second inquiry, whatever the `source`: give each source an id of its own. It must hold no personal data. */
            requestId?: string;
        };
        CreditFilePull: {
            /** Format: uuid */
            id: string;
            source: components["schemas"]["CreditFileSource"];
            /**
             * @description `UNKNOWN`: the bureau may have made the inquiry: its answer was lost, or its server answered with an error. Such a pull is never repeated by itself.
             * @enum {string}
             */
            state: "REQUESTED" | "RUNNING" | "COMPLETE" | "FAILED" | "UNKNOWN";
            /** Format: date-time */
            requestedAt: string;
            /**
             * Format: date-time
             * @description Absent while the pull is under way.
             */
            finishedAt?: string;
            /**
             * @description Why the pull failed: the bureau refused the retailer's credentials; it refused the inquiry's contents; it could not be reached, or it refused to take the inquiry at that time; its answer was not in its format; the consent had ended or was revoked before the inquiry was sent; its answer was about another person, and nothing of it was kept.
             * @enum {string}
             */
            failure?: "CREDENTIALS" | "REJECTED" | "UNAVAILABLE" | "MALFORMED_ANSWER" | "CONSENT" | "ANSWER_FOR_ANOTHER_SUBJECT";
            /** @description The bureau's own code for why it refused the inquiry, or `HTTP_` and the status of its answer; absent without one. */
            bureauCode?: string;
        };
        CreditFilePullEvidence: {
            /**
             * Format: uuid
             * @description The integration that asked.
             */
            requestedBy: string;
            /** Format: uuid */
            retailerId: string;
            /** @description The `X-Request-Id` of the request for the pull. */
            requestId: string;
            /** @description The `requestId` in the body of the request for the pull; absent without one, and of an applicant who was erased. */
            callerRequestId?: string;
            /** @description Whether the request had `Prefer: force-pull`. */
            forced: boolean;
            /**
             * Format: date-time
             * @description When the inquiry was sent to the bureau; absent if it never was.
             */
            sentAt?: string;
            /** @description The `hitType` of the file; absent without a file. */
            hitType?: string;
            consent?: components["schemas"]["CreditFileConsent"];
        } & components["schemas"]["CreditFilePull"];
        /** @description The consent that the pull was made on, as it was then. */
        CreditFileConsent: {
            /** Format: uuid */
            consentId: string;
            /** @description What the applicant has agreed to: `CREDIT_APPLICATION`. */
            purpose: string;
            /** @description The version of the text that the applicant has agreed to. */
            textVersion: string;
            /** @description SHA-256 of the signed document, in hex; absent when there is none. */
            documentSha256?: string;
            /** Format: date-time */
            capturedAt: string;
            /** @description The retailer's user who took it. */
            capturedBy?: string;
            /** Format: date-time */
            expiresAt: string;
        };
        /** @description A bureau's credit file of one person, in the bureau's words. A field that the file does not have is left out. */
        CreditFile: {
            /**
             * @description The provider of this file; null when its origin is unknown.
             * @enum {string|null}
             */
            source?: "CREDIT_APP" | "EQUIFAX" | "TRANSUNION" | null;
            /** @description The bureau's number of this file, or the platform's own where the bureau gives none. */
            id?: string;
            /** @description Opens this file as a PDF for 15 minutes, without a key, or until the consent, your grant or the application ends. Each read gives a new link. */
            signedPdfUrl?: string;
            /** @description The retailer's number at the bureau. */
            customerNumber?: string;
            /**
             * @description The language of the file's texts.
             * @enum {string}
             */
            language?: "EN" | "FR";
            /**
             * Format: date
             * @description When the bureau opened its file of the person.
             */
            fileSinceDate?: string;
            /** Format: date */
            lastActivityDate?: string;
            /**
             * Format: date
             * @description The day of the inquiry in Toronto, where the bureaus are.
             */
            requestedDate?: string;
            /** @description The bureau's office that owns the file. */
            bureau?: components["schemas"]["CreditFileParty"];
            /**
             * @description Whether the bureau has found the person. All of these are finished files: `NO_HIT` and `CREDIT_LOCK`, for example, come without trades and scores.
             * @enum {string}
             */
            hitType?: "NO_CREDIT_FILE_REQUESTED" | "HIT" | "NO_HIT" | "MANUAL_FILE" | "CONSUMER_DECLARATION" | "REFERRED_FILE" | "CONTACT_BUREAU_COLLECTION_DEPARTMENT" | "CREDIT_LOCK";
            /**
             * @description How far the person of the file agrees with the applicant, by name, date of birth and social insurance number. Have a human look at a `PARTIAL` match before the file is used. Absent when `hitType` is `NO_HIT`, and of files that were pulled before the platform compared them. A file that is certainly about another person is never kept. Not part of the interface specification.
             * @enum {string}
             */
            matched?: "FULL" | "PARTIAL";
            /** @description Of a `PARTIAL` match, what differs: the whole name, or the last name alone, as after a marriage; the date of birth; the social insurance number. Or what the file lacks: a first or last name; a date of birth. Or what the bureau repeats of the request: the type of the subject; the number of the request. Not part of the interface specification. */
            differences?: ("NAME" | "LAST_NAME" | "DATE_OF_BIRTH" | "SIN" | "NAME_MISSING" | "DATE_OF_BIRTH_MISSING" | "SUBJECT_TYPE" | "REQUEST_NUMBER")[];
            /** @description How sure the bureau is of its hit, in its words, such as `Regular hit`. Not part of the interface specification. */
            hitStrength?: string;
            /** @description What the bureau warns of. Show it first. Not part of the interface specification. */
            warnings?: components["schemas"]["CreditFileWarning"][];
            /** @description Sections of the bureau's answer for which this file has no field: ask the bureau what they say. Not part of the interface specification. */
            alsoReported?: {
                /** @description The bureau's name of the section, such as `CNGarnishments`. */
                section: string;
                /** @description How many entries it has. */
                count: number;
            }[];
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            subject?: components["schemas"]["CreditFileSubject"];
            bankruptcies?: components["schemas"]["CreditFileBankruptcy"][];
            collections?: components["schemas"]["CreditFileCollection"][];
            legalItems?: components["schemas"]["CreditFileLegalItem"][];
            securedLoans?: components["schemas"]["CreditFileSecuredLoan"][];
            trades?: components["schemas"]["CreditFileTrade"][];
            localInquiries?: components["schemas"]["CreditFileLocalInquiry"][];
            foreignInquiries?: components["schemas"]["CreditFileForeignInquiry"][];
            specialServices?: components["schemas"]["CreditFileSpecialService"][];
            consumerStatements?: components["schemas"]["CreditFileConsumerStatement"][];
            scores?: components["schemas"]["CreditFileScore"][];
        };
        /** @description The names of the dates of this object of which the bureau gives year and month only: the day that stands there, the first of the month as a rule, is not known. Not part of the interface specification. */
        CreditFileDatesWithoutDay: string[];
        /** @description A warning of the bureau, in its words. */
        CreditFileWarning: {
            code?: string;
            /** @description Absent where the bureau gives a code alone. */
            text?: string;
            /**
             * @description What warns: the bureau's fraud detection, its check of the file's data, or another message with its answer.
             * @enum {string}
             */
            source: "FRAUD" | "DATA" | "MESSAGE";
        };
        /** @description A bureau office, court or agency. */
        CreditFileParty: {
            id?: string;
            name?: string;
        };
        /** @description A customer of the bureau, such as a creditor. */
        CreditFileMember: {
            id?: string;
            name?: string;
            phoneNumber?: string;
        };
        /** @description The person whom the file is about. */
        CreditFileSubject: {
            firstName?: string;
            middleName?: string;
            lastName?: string;
            suffix?: string;
            /** @description The social insurance number; masked (`***-***-789`) without the permission `READ_SIN`. */
            sin?: string;
            /** Format: date */
            dateOfBirth?: string;
            /** Format: date */
            dateOfDeath?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            otherNames?: components["schemas"]["CreditFileOtherName"][];
            addressHistory?: components["schemas"]["CreditFileAddress"][];
            employmentHistory?: components["schemas"]["CreditFileEmployment"][];
        };
        /** @description A former or other name of the person. */
        CreditFileOtherName: {
            /** @enum {string} */
            type?: "ALSO_KNOWN_AS" | "FORMER_NAME" | "LEGAL_NAME_CHANGE";
            firstName?: string;
            middleName?: string;
            lastName?: string;
            suffix?: string;
        };
        /** @description The current address comes first. */
        CreditFileAddress: {
            /** Format: date */
            dateReported?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            streetNo?: string;
            streetName?: string;
            city?: string;
            province?: components["schemas"]["Province"];
            postalCode?: string;
        };
        /** @description The current employment comes first. */
        CreditFileEmployment: {
            /** Format: date */
            dateEmployed?: string;
            /** Format: date */
            dateLeft?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            employerName?: string;
            occupation?: string;
            city?: string;
            province?: components["schemas"]["Province"];
            monthlyIncome?: number;
        };
        /** @description A bankruptcy, proposal or act for the relief of debtors. */
        CreditFileBankruptcy: {
            /** Format: date */
            dateFiled?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            court?: components["schemas"]["CreditFileParty"];
            caseNumber?: string;
            /** @enum {string} */
            type?: "INDIVIDUAL" | "BUSINESS";
            /** @enum {string} */
            filer?: "SUBJECT" | "JOINT";
            disposition?: {
                /** @enum {string} */
                type?: "BANKRUPTCY_ASSIGNMENT" | "BANKRUPTCY_RECEIVING_ORDER" | "CONSUMER_DEBT_COUNSELING" | "CONSUMER_DEBT_COUNSELING_CLOSED" | "COURT_CONSOLIDATIONS" | "COURT_CONSOLIDATIONS_PAID" | "DEBTOR_ASSISTANCE_POOL_ACT" | "DEBTOR_ASSISTANCE_POOL_ACT_PAID" | "DISCHARGED" | "INVOLUNTARY" | "ORDERLY_PAYMENT_OF_DEBT" | "ORDERLY_PAYMENT_OF_DEBT_DEFAULT" | "ORDERLY_PAYMENT_OF_DEBT_PAID" | "ORDERLY_PAYMENT_OF_DEBT_SETTLED" | "PROPOSAL_TO_CREDITORS" | "PROPOSAL_UNDER_BANKRUPTCY_ACT_PAID" | "UNDISCHARGED" | "VOLUNTARY" | "VOLUNTARY_DEPOSIT" | "VOLUNTARY_DEPOSIT_CLOSED";
                /** Format: date */
                date?: string;
                datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            };
            liabilityAmount?: number;
            assetAmount?: number;
            narratives?: ("ABSOLUTE_DISCHARGE" | "ASSIGNMENT" | "SUMMARY_ASSIGNMENT" | "PROPOSAL" | "DISPOSITION_UNKNOWN" | "DEFAULTED_PAYMENT_DEEMED_ANNULMENT" | "NOTICE_OF_INTENTION")[];
        };
        /** @description A debt that was given to a collection agency. */
        CreditFileCollection: {
            /** @enum {string} */
            type?: "PAID" | "UNPAID";
            /** Format: date */
            assignedDate?: string;
            agency?: components["schemas"]["CreditFileParty"];
            agencyAccountNumber?: string;
            creditor?: {
                accountNumberAndOrName?: string;
            };
            industry?: string;
            /** @enum {string} */
            reason?: "CHECKED" | "OTHER" | "PAID" | "SETTLED" | "UNKNOWN";
            originalAmount?: number;
            balanceAmount?: number;
            /** Format: date */
            dateOfLastPayment?: string;
            /** Format: date */
            datePaid?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            narratives?: ("INCLUDED_IN_BANKRUPTCY" | "INCLUDED_IN_OPD" | "SUBJECT_DISPUTES_THIS_ACCOUNT" | "SETTLEMENT_MADE" | "INCLUDED_IN_VOLUNTARY_DEPOSIT" | "CREDIT_COUNSELING" | "INCLUDED_IN_CONSUMER_PROPOSAL" | "INCLUDED_IN_CO_APPLICANTS_BANKRUPTCY" | "CHILD_OR_FAMILY_SUPPORT_OBLIGATION")[];
        };
        /** @description A judgment. */
        CreditFileLegalItem: {
            /** @enum {string} */
            type?: "UNSETTLED_JUDGMENT" | "SATISFIED_JUDGMENT";
            /** Format: date */
            dateFiled?: string;
            court?: components["schemas"]["CreditFileParty"];
            caseNumber?: string;
            /** @enum {string} */
            status?: "DISMISSED" | "SATISFIED" | "SETTLED";
            /** Format: date */
            dateSatisfied?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            amount?: number;
            defendant?: string;
            plaintiff?: string;
            lawyerNameAddress?: string;
            narratives?: ("INCLUDED_IN_BANKRUPTCY" | "INCLUDED_IN_OPD" | "SETTLEMENT_MADE" | "DISPOSITION_UNKNOWN" | "CREDIT_COUNSELING" | "INCLUDED_IN_CONSUMER_PROPOSAL" | "INCLUDED_IN_CO_APPLICANTS_BANKRUPTCY")[];
        };
        /** @description A registered loan with a security, such as a lien. */
        CreditFileSecuredLoan: {
            /** Format: date */
            dateFiled?: string;
            court?: components["schemas"]["CreditFileParty"];
            creditor?: {
                nameAddressAndAmount?: string;
            };
            industry?: string;
            /** Format: date */
            maturityDate?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            narratives?: ("INCLUDED_IN_BANKRUPTCY" | "MORTGAGE" | "SECURITY_DISPOSITION_UNKNOWN" | "SECURITY_DISCHARGED")[];
        };
        /** @description An account with a creditor. Amounts are in whole dollars as a rule. */
        CreditFileTrade: {
            /** Format: date */
            dateReported?: string;
            creditor?: components["schemas"]["CreditFileMember"];
            accountNumber?: string;
            /** @enum {string} */
            association?: "INDIVIDUAL" | "JOINT" | "UNDESIGNATED" | "HAS_CO_SIGNER" | "IS_CO_SIGNER" | "TERMINATED";
            /** @description The highest balance, or the credit limit where `narratives` has `AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT`. */
            highCreditAmount?: number;
            /** @description The amount of each payment; `narratives` may say how often it is due. */
            paymentTermAmount?: number;
            balanceAmount?: number;
            pastDueAmount?: number;
            /** @description For how many months the payments are known. */
            monthsReviewed?: number;
            /** Format: date */
            dateOpened?: string;
            /** Format: date */
            dateLastActivityOrPayment?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            /** @enum {string} */
            portfolioType?: "REVOLVING_OR_OPTION" | "INSTALMENT" | "OPEN_ACCOUNT" | "LEASE_ACCOUNT" | "LINE_OF_CREDIT" | "MORTGAGE";
            paymentRate?: components["schemas"]["CreditFilePaymentRate"];
            status?: components["schemas"]["CreditFileTradeStatus"];
            count30DaysPastDue?: number;
            count60DaysPastDue?: number;
            count90DaysPastDue?: number;
            /** @description The worst rates of earlier months. */
            previousHighPaymentRates?: {
                /** Format: date */
                date?: string;
                datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
                rate?: components["schemas"]["CreditFilePaymentRate"];
            }[];
            /** @description The credit limit, where the bureau gives it apart. Not part of the interface specification. */
            creditLimitAmount?: number;
            /** @description The kind of account in the bureau's words, such as `AUTO`. Not part of the interface specification. */
            accountType?: string;
            /**
             * Format: date
             * @description When a payment was first missed. Not part of the interface specification.
             */
            dateFirstDelinquency?: string;
            /** @description How the account was paid in each of up to 24 months, the newest first. A month without a rate was not rated. Not part of the interface specification. */
            paymentProfile?: {
                /** @description As `2026-02`. */
                month?: string;
                rate?: components["schemas"]["CreditFilePaymentRate"];
                status?: components["schemas"]["CreditFileTradeStatus"];
            }[];
            narratives?: ("A_PORTION_OF_THE_BALANCE_MAY_REVOLVE" | "ACCOUNT_ASSIGNED_TO_THIRD_PARTY_FOR_COLLECTION" | "ACCOUNT_ASSUMED_BY_ANOTHER_PARTY" | "ACCOUNT_BEING_PAID_ON_REDUCED_PAYMENT" | "ACCOUNT_CLOSED" | "ACCOUNT_PAID" | "ACTIVE_MILITARY_DUTY" | "AFFECTED_BY_NATURAL_OR_DECLARED_DISASTER" | "AMOUNT_IN_HC_COLUMN_IS_CREDIT_LIMIT" | "AMOUNT_IN_PAYMENT_COLUMN_IS_ON_A_WEEKLY_BASIS" | "ANNUAL_PAYMENTS" | "AUTO_LOAN" | "BALANCE_PAID_BY_INSURANCE_COMPANY" | "BI_MONTHLY_PAYMENTS" | "BI_WEEKLY_PAYMENTS" | "BUSINESS_VENTURE_SUBJECT_LIABLE" | "CHILD_FAMILY_SUPPORT_OBLIGATION" | "CLOSED_AT_CONSUMERS_REQUEST" | "CLOSED_BY_CREDIT_GRANTOR" | "COLLATERAL_MORTGAGE" | "COMMERCIAL_LOAN_ACCOUNT" | "CONDITIONAL_SALES" | "CONSOLIDATION_LOAN" | "CORPORATE_CREDIT_CARD" | "CREDIT_COUNSELING" | "CREDIT_LINE_CLOSED" | "CREDIT_LINE_SUSPENDED" | "CUSTOMER_UNABLE_TO_LOCATE_CONSUMER" | "DEFERRED_PAYMENT" | "DEMAND_LOAN" | "DISPUTE_RESOLUTION_PENDING" | "DUE_TO_NSF_CHEQUES" | "FARM_AGRI_LOAN" | "FIXED_PAYMENT_AMOUNT" | "FORECLOSURE" | "FORECLOSURE_PROCEEDING_STARTED" | "FORFEIT_OF_DEED_IN_LIEU_OF_FORECLOSURE" | "GUARANTEED_STUDENT_LOAN" | "HAS_CO_SIGNER" | "HOME_EQUITY" | "HOME_IMPROVEMENT_LOAN" | "HYBRID_ACCOUNT" | "INACTIVE_ACCOUNT" | "INCLUDED_IN_BANKRUPTCY" | "INCLUDED_IN_CO_APPLICANTS_BANKRUPTCY" | "INCLUDED_IN_CONSUMER_PROPOSAL" | "INCLUDED_IN_OPD" | "INCLUDED_IN_VOLUNTARY_DEPOSIT" | "INSURED" | "INTEREST_PAYMENT_ONLY" | "INTEREST_RELIEF" | "INTEREST_RELIEF_PAID_BY_GOVERNMENT" | "INTERNAL_COLLECTION" | "INVOLUNTARY_REPOSSESSION" | "IS_A_CO_SIGNER" | "LEASE_ACCOUNT" | "LEASE_EARLY_TERMINATION_BY_DEFAULT" | "LOAN_WAS_PAID_OUT_BY_A_THIRD_PARTY" | "MONTHLY_PAYMENTS" | "MONTHS_REVIEWED_IS_GREATER_THAN_24" | "MORTGAGE" | "NO_ACTIVITY_UPDATE_SINCE_DATE_REPORTED" | "NOT_INCLUDED_IN_BANKRUPTCY" | "NOTE_LOAN" | "OVER_LIMIT_PAYMENT_RECEIVED" | "PAID_BY_GOVERNMENT" | "PAID_CREDIT_LINE_CLOSED" | "PAID_OUT_IN_FULL_BY_CO_SIGNER" | "PAYMENT_BEING_MADE_BY_INSURANCE" | "PAYMENTS_ASSUMED_BY_THIRD_PARTY" | "PERSONAL_LINE_OF_CREDIT" | "PERSONAL_LOAN" | "POWER_OF_SALE" | "PREPAID" | "PROMISSORY_NOTE" | "QUARTERLY_PAYMENTS" | "QUIT_CLAIM" | "REAL_ESTATE_SECURED" | "REDEEMED_REPOSSESSION" | "REFINANCED" | "REGULAR_PAYMENTS_PRESENTLY_BEING_MADE" | "RENTAL_AGREEMENT" | "REVERSE_MORTGAGE" | "RSP_LOAN" | "SECOND_MORTGAGE" | "SECURED_LOAN" | "SEMI_ANNUAL_PAYMENTS" | "SEMI_MONTHLY_PAYMENTS" | "SETTLEMENT_MADE" | "SINGLE_PAYMENT_LOAN" | "STUDENT_LINE_OF_CREDIT" | "STUDENT_LOAN" | "SUBJECT_DISPUTES_THIS_ACCOUNT" | "SUBJECT_HAS_AN_ENDORSER_GUARANTOR" | "SUBJECT_IS_AN_ENDORSER_GUARANTOR" | "SUBJECT_NO_LONGER_ASSOCIATED_WITH_ACCOUNT" | "TRANSFERRED_OR_SOLD" | "UNINSURED" | "UNSECURED" | "UPDATE_FREEZE_REQUESTED_BY_CREDIT_GRANTOR" | "US_DOLLAR_ACCOUNT" | "VOLUNTARY_REPOSSESSION" | "WEEKLY_PAYMENTS" | "WRITTEN_OFF")[];
        };
        /**
         * @description How the account is paid.
         * @enum {string}
         */
        CreditFilePaymentRate: "AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9" | "BAD_DEBT_PLACED_FOR_COLLECTION" | "MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER" | "NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE" | "NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE" | "PAID_AS_AGREED_AND_UP_TO_DATE" | "REPOSSESSION" | "THREE_OR_MORE_PAYMENTS_PAST_DUE" | "TOO_NEW_TO_RATE";
        /**
         * @description What stands in the place of a rate.
         * @enum {string}
         */
        CreditFileTradeStatus: "ACCOUNT_IS_INACTIVE" | "LOST_OR_STOLEN_CARD" | "CONTACT_MEMBER_FOR_RATE" | "ADJUSTMENT_PENDING" | "DISPUTE_RESOLUTION_PENDING";
        /** @description An inquiry by a customer of the same bureau's office. */
        CreditFileLocalInquiry: {
            /** Format: date */
            date?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            customer?: components["schemas"]["CreditFileMember"];
        };
        /** @description An inquiry by a customer of another office. */
        CreditFileForeignInquiry: {
            /** Format: date */
            date?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            memberNameAndNumber?: string;
            industry?: string;
        };
        /** @description A warning or service of the bureau about the file. */
        CreditFileSpecialService: {
            /** @enum {string} */
            type?: "LOCATE" | "INQUIRY_ALERT" | "CONSUMER_INTERVIEW" | "ALERT_SERVICE" | "FILE_INCOMPLETE" | "LOCAL_LOCATE" | "CONTACT_BUREAU" | "LOST_OR_STOLEN_WALLET";
            /** Format: date */
            dateReported?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            customer?: components["schemas"]["CreditFileMember"];
        };
        /** @description What the person had the bureau add to the file. */
        CreditFileConsumerStatement: {
            /** Format: date */
            dateReported?: string;
            /** Format: date */
            dateToBePurged?: string;
            datesWithoutDay?: components["schemas"]["CreditFileDatesWithoutDay"];
            statement?: string;
        };
        /** @description A score of the file. A file that could not be scored has `rejectCodes` instead of a `value`. */
        CreditFileScore: {
            /** @description The score as a number, with its sign; absent where `value` is no number. */
            number?: number;
            sign?: string;
            /** @description The score, such as `712`. */
            value?: string;
            narratives?: string[];
            reasons?: string[];
            rejectCodes?: string[];
            /** @description Why the file could not be scored: each of `rejectCodes` with the bureau's words for it. Not part of the interface specification. */
            rejectReasons?: {
                code?: string;
                /** @description Absent where the bureau gives the code alone. */
                text?: string;
            }[];
        };
        /**
         * @description A creditor without a decision has `AWAITING_DECISION`. No decision recorded here is `DRAFT`.
         * @enum {string}
         */
        DecisionValue: "BOOKED" | "DOCUMENTS_INCOMPLETE" | "APPROVED" | "CONDITIONALLY_APPROVED" | "DECLINED" | "WITHDRAWN" | "INCOMPLETE" | "AWAITING_DECISION" | "PENDING_BANK_CONNECTION" | "DRAFT";
        /** @enum {string} */
        IncomeStatus: "REQUIRED" | "VERIFIED" | "WAIVED";
        IncomeStatusWrite: {
            incomeStatus: components["schemas"]["IncomeStatus"];
        };
        /**
         * @description `AWAITING_DECISION` and `DRAFT` cannot be written.
         * @enum {string}
         */
        WritableDecisionValue: "BOOKED" | "DOCUMENTS_INCOMPLETE" | "APPROVED" | "CONDITIONALLY_APPROVED" | "WITHDRAWN" | "DECLINED" | "INCOMPLETE" | "PENDING_BANK_CONNECTION";
        Decision: {
            /** Format: uuid */
            applicationId: string;
            /** Format: uuid */
            creditorId: string;
            decision: components["schemas"]["DecisionValue"];
            /** Format: date */
            firstPaymentDate?: string;
            paymentFrequency?: components["schemas"]["Frequency"];
            interestRate?: components["schemas"]["Rate"];
            paymentAmount?: components["schemas"]["Amount"];
            /** @description Free text conditions. */
            conditions?: string;
        };
        DecisionFigures: {
            paymentFrequency?: components["schemas"]["Frequency"];
            /** @description Free text conditions. */
            conditions?: string;
            /** @description Program name. */
            program?: string;
            /** @description Tier name. */
            tier?: string;
            rebate?: components["schemas"]["Amount"];
            dealerAdminFee?: components["schemas"]["Amount"];
            gapInsurance?: components["schemas"]["Amount"];
            extendedWarranty?: components["schemas"]["Amount"];
            gpsFee?: components["schemas"]["Amount"];
            licenseFee?: components["schemas"]["Amount"];
            lenderAdminFee?: components["schemas"]["Amount"];
            ppsaFee?: components["schemas"]["Amount"];
            installationDeliveryFee?: components["schemas"]["Amount"];
            lifeInsuranceFee?: components["schemas"]["Amount"];
            /** @description Accident and health insurance fee. */
            ahInsuranceFee?: components["schemas"]["Amount"];
            otherNonTaxable?: components["schemas"]["Amount"];
            otherTaxable?: components["schemas"]["Amount"];
            taxProvince?: components["schemas"]["Province"];
        };
        DecisionWrite: {
            /**
             * Format: uuid
             * @description Must be the application in the path.
             */
            applicationId: string;
            decision: components["schemas"]["WritableDecisionValue"];
            firstPaymentDate?: components["schemas"]["PaymentDate"];
            deliveryDate?: components["schemas"]["PaymentDate"];
            /** @description Per cent per year, with five decimals at most. */
            interestRate?: number;
            paymentAmount?: components["schemas"]["AmountFromZero"];
            /** @description Vehicle purchase price. */
            salePrice?: components["schemas"]["AmountFromZero"];
            downPayment?: components["schemas"]["AmountFromZero"];
            /** @description Loan term in months. */
            term?: number;
        } & components["schemas"]["DecisionFigures"];
        RecordedDecision: {
            /** @description 1, 2, 3 … for each application and creditor. */
            sequence: number;
            /** Format: date-time */
            recordedAt: string;
            /**
             * Format: uuid
             * @description The integration that recorded it; null where the platform did, as at submission.
             */
            integrationId: string | null;
            decision: components["schemas"]["DecisionValue"];
            /** Format: date */
            firstPaymentDate?: string;
            /** Format: date */
            deliveryDate?: string;
            interestRate?: components["schemas"]["Rate"];
            paymentAmount?: components["schemas"]["Amount"];
            /** @description Vehicle purchase price. */
            salePrice?: components["schemas"]["Amount"];
            downPayment?: components["schemas"]["Amount"];
            /** @description Loan term in months. */
            term?: components["schemas"]["Months"];
        } & components["schemas"]["DecisionFigures"];
        /**
         * @description The name of a webhook.
         * @enum {string}
         */
        WebhookEvent: "integrationEnabled" | "applicationBooked" | "applicationApproved" | "applicationConditionallyApproved" | "documentsIncomplete" | "awaitingDecision" | "pendingBanking" | "applicationDeclined" | "applicationExported";
        /** @enum {string} */
        DeliveryState: "WAITING" | "DUE" | "DELIVERED" | "DEAD";
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description The `webhook-id`, the same on every attempt and replay.
             */
            deliveryId: string;
            /** @description The name of the webhook. */
            event: string;
            /**
             * Format: uuid
             * @description Absent for integrationEnabled, as is `creditorId`.
             */
            applicationId?: string;
            /** Format: uuid */
            creditorId?: string;
            /**
             * Format: uuid
             * @description For integrationEnabled only.
             */
            retailerId?: string;
            /** @description The `webhook-sequence`; absent when there was never a body to be sent. */
            sequence?: number;
            state: components["schemas"]["DeliveryState"];
            /** @description Why the delivery is `DEAD`: `attempts_exhausted`, `gone` (your receiver answered 410), `destination_disabled`, `export_deleted` (45 days after the export, or when an applicant was erased), `export_unreadable`, `enablement_not_found` or `enablement_unreadable` (what the event is about can no longer be read), `grant_missing` (you have no grant any more by which you would receive the event), or `payload_unfit`, which is followed by the details. */
            reason?: string;
            /** @description All attempts, those before a replay included. */
            attemptCount: number;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description While `DUE` and not being sent.
             */
            nextAttemptAt?: string;
            /**
             * Format: date-time
             * @description When the delivery became `DELIVERED` or `DEAD`.
             */
            settledAt?: string;
            /**
             * Format: date-time
             * @description The latest replay.
             */
            replayedAt?: string;
            /** @description Why your destination is disabled now, whatever the delivery: `gone`, or `no_success` for five days. Absent while it is enabled. */
            destinationDisabledReason?: string;
        };
        WebhookAttempt: {
            /** Format: date-time */
            startedAt: string;
            /** @description How long the whole exchange took. */
            durationMs: number;
            /** @description The status of your receiver's answer. */
            status?: number;
            /** @description Why there is no answer, such as `deadline` or `econnrefused`; `secret_unreadable` when the platform could not read the signing secret, which *Rotate the secret* replaces. A failed TLS handshake is one of `tls_client_certificate_required`, `tls_version_refused`, `tls_name_mismatch`, `tls_certificate_expired`, `tls_certificate_not_yet_valid`, `tls_certificate_self_signed`, `tls_authority_unknown`, `tls_certificate_invalid`, `tls_name_unknown`, `tls_not_spoken`, `tls_handshake_refused` and `tls_failed`. */
            failure?: string;
            /** @description `failure` as a sentence; absent where there is none. */
            failureMessage?: string;
            /** @description The first 2 KiB of the body of your receiver's answer, read as UTF-8, where its status is not 2xx. Absent when it is empty, is not kept, or cannot be shown any more. */
            answer?: string;
        };
        TestEvent: {
            event: components["schemas"]["WebhookEvent"];
        };
        SentTestEvent: {
            /** Format: uuid */
            webhookId: string;
            event: string;
            /** @description Whether your receiver answered with 2xx. */
            succeeded: boolean;
            /** @description The status of your receiver's answer. */
            status?: number;
            /** @description Why there is no answer, as in an attempt at a delivery. */
            failure?: string;
            /** @description `failure` as a sentence; absent where there is none. */
            failureMessage?: string;
            /** @description The first 2 KiB of the body of your receiver's answer, read as UTF-8. Absent when it is empty. */
            answer?: string;
            durationMs: number;
            /** @description Whether the destination was disabled and this success enabled it. It is `false` for a destination that was enabled before, too. */
            enabled: boolean;
        };
        OwnDestination: {
            /** Format: uuid */
            destinationId: string;
            url: string;
            events?: components["schemas"]["EventFilter"];
            deliveriesPerSecond?: components["schemas"]["DeliveriesPerSecond"];
            /**
             * Format: date-time
             * @description When your receiver last answered with 2xx, to the minute. Absent before it has.
             */
            lastSuccessAt?: string;
            /**
             * Format: date-time
             * @description The first failure since the last success.
             */
            failingSince?: string;
            /**
             * Format: date-time
             * @description Since when nothing is sent, until a test event succeeds or the destination is set again.
             */
            disabledAt?: string;
            /** @description `gone`: your receiver answered 410. `no_success`: it has not answered with 2xx for five days. Absent while the destination is enabled. */
            disabledReason?: string;
            /**
             * Format: date-time
             * @description The end of the pause. Absent while the destination is not paused.
             */
            pausedUntil?: string;
        };
        Pause: {
            /**
             * @description How long the pause lasts.
             * @default 24
             */
            hours?: number;
        };
        RetailerUser: {
            /** Format: uuid */
            userId: string;
            /** @description Empty for a person with a last name alone. */
            firstName: string;
            /** @description Empty for a person with a first name alone. */
            lastName: string;
            email: string;
            active: boolean;
            /** @description The retailer, where the user belongs to it directly. */
            retailerIds: string[];
            /** @description The retailer's group, where the user belongs to it. */
            retailerGroupIds: string[];
        };
        GrantedRetailer: {
            /** Format: uuid */
            retailerId: string;
            name: string;
            /**
             * Format: uuid
             * @description Left out for a retailer that belongs to no group.
             */
            retailerGroupId?: string;
            /** Format: date-time */
            grantedAt: string;
        };
        GrantedCreditor: {
            /** Format: uuid */
            creditorId: string;
            name: string;
            /** @description Whether the integration is disabled for the creditor. */
            disabled: boolean;
            /** Format: date-time */
            grantedAt: string;
        };
        EnableForRetailer: {
            /** @description At most 32 KiB as JSON without white space, and 16 levels. */
            configJson?: {
                [key: string]: unknown;
            };
        };
        EnabledForRetailer: {
            /** Format: uuid */
            integrationId: string;
            /** Format: uuid */
            retailerId: string;
            /** @constant */
            status: "ENABLED";
        };
        EnableIntegration: {
            /** Format: uuid */
            creditorId: string;
        };
        DisableIntegration: {
            /** Format: uuid */
            creditorId: string;
            /** @description Why the integration is disabled. */
            reason?: string;
        };
        SetIntegrationStatus: {
            /** Format: uuid */
            creditorId: string;
            /** @enum {string} */
            status: "REQUESTED" | "WAITING_FOR_SECOND_ACTIVATION_STEP" | "FAILED_TO_ENABLE";
        };
        /** @enum {string} */
        IntegrationStatus: "REQUESTED" | "WAITING_FOR_SECOND_ACTIVATION_STEP" | "FAILED_TO_ENABLE" | "ENABLED" | "DISABLED";
        IntegrationStatusSet: {
            /** Format: uuid */
            creditorId: string;
            status: components["schemas"]["IntegrationStatus"];
        };
        IntegrationEnablement: {
            /** Format: uuid */
            creditorId: string;
            status?: components["schemas"]["IntegrationStatus"];
            /** @description Why the integration is disabled. */
            reason?: string;
            /**
             * Format: date-time
             * @description When the status was set.
             */
            setAt?: string;
        };
        ExportWrite: {
            /**
             * Format: uuid
             * @description The integration that receives the export.
             */
            integrationId: string;
            /**
             * Format: uuid
             * @description The creditor whose submission is exported.
             */
            creditorId: string;
        };
        Export: {
            /** Format: uuid */
            exportId: string;
            /** Format: uuid */
            applicationId: string;
            /** Format: uuid */
            creditorId: string;
            /** Format: uuid */
            integrationId: string;
            /** Format: date-time */
            exportedAt: string;
        };
        ExportedApplication: {
            /** Format: uuid */
            retailerId: string;
            /** Format: uuid */
            applicationId: string;
            /** Format: uuid */
            creditorId: string;
            primaryApplicant: components["schemas"]["ExportedApplicant"];
            coApplicant: components["schemas"]["ExportedApplicant"] | null;
            /** @description What the co-applicant is to the primary applicant. */
            relationship: components["schemas"]["Relationship"] | null;
            worksheet: components["schemas"]["ExportedWorksheet"];
        };
        ExportedApplicant: {
            /** @description Empty for a person with a last name alone. */
            firstName: string;
            /** @description Empty for a person with a first name alone. */
            lastName: string;
            /** @description Social insurance number, nine digits; null without the permission `READ_SIN`. */
            sin: string | null;
            /** Format: date */
            dateOfBirth: string;
            phoneNumber?: string;
            /** Format: email */
            email?: string;
            addressHistory: components["schemas"]["ExportedAddress"][];
            employmentHistory: components["schemas"]["ExportedEmployment"][];
        };
        ExportedAddress: {
            addressType?: string;
            apartmentSuite?: string;
            city?: string;
            direction?: components["schemas"]["Direction"];
            /** Format: uuid */
            id: string;
            monthlyRentOrMortgage?: components["schemas"]["Money"];
            monthsAtAddress?: number;
            pOBoxNumber?: string;
            postalCode?: string;
            province?: components["schemas"]["Province"];
            residenceType?: components["schemas"]["ResidenceType"];
            searchAddress?: string;
            streetName?: string;
            streetNo?: string;
            streetType?: string;
            yearsAtAddress?: number;
        };
        ExportedEmployment: {
            additionalIncomeSources: components["schemas"]["IncomeSource"][];
            apartmentSuite?: string;
            city?: string;
            direction?: components["schemas"]["Direction"];
            employerName?: string;
            employmentPhone?: string;
            /** @description How often `grossIncome` is paid. */
            frequency?: components["schemas"]["Frequency"];
            grossIncome?: components["schemas"]["Money"];
            /** Format: uuid */
            id: string;
            monthsWorked?: number;
            occupation?: string;
            postalCode?: string;
            province?: components["schemas"]["Province"];
            status?: components["schemas"]["EmploymentStatus"];
            streetName?: string;
            streetNo?: string;
            streetType?: string;
            type?: components["schemas"]["EmploymentType"];
            yearsWorked?: number;
        };
        ExportedWorksheet: {
            /** Format: uuid */
            programId?: string;
            /** Format: uuid */
            tierId?: string;
            vehicle?: components["schemas"]["ExportedVehicle"];
            extraCleanWholesaleValue?: components["schemas"]["Money"];
            cleanWholesaleValue?: components["schemas"]["Money"];
            averageWholesaleValue?: components["schemas"]["Money"];
            roughWholesaleValue?: components["schemas"]["Money"];
            drivingDistancePerYear: number | null;
            isZeroEmissionVehicle?: boolean;
            taxExempt?: boolean;
            gstPercent?: number;
            gst?: components["schemas"]["Money"];
            gstAdjusted?: boolean;
            pstHstPercent?: number;
            pstHst?: components["schemas"]["Money"];
            pstHstAdjusted?: boolean;
            salePrice?: components["schemas"]["Money"];
            cashDown?: components["schemas"]["Money"];
            rebate?: components["schemas"]["Money"];
            registrationFee?: components["schemas"]["Money"];
            creditorFee?: components["schemas"]["Money"];
            dealerReserve?: components["schemas"]["Money"];
            totalFinancedAmount?: components["schemas"]["Money"];
            worksheetPayment?: components["schemas"]["Money"];
            tradeIn: string | null;
            dealerAdminFee: string | null;
            gpsFee: string | null;
            licenseFee: string | null;
            installationDeliveryFee: string | null;
            ahInsuranceFee: string | null;
            lifeInsuranceFee: string | null;
            gapInsurance: string | null;
            extServiceContract: string | null;
            /** Format: date */
            firstPaymentDate: string;
            /** Format: date */
            deliveryDate?: string;
            interestRate: number;
            term?: number;
            frequency: components["schemas"]["Frequency"];
        };
        ExportedVehicle: {
            id: string;
            vin?: string;
            status?: string;
            msrp?: components["schemas"]["Money"];
            adjustedMsrp: number | null;
            odometer?: {
                amount: number;
                unit: string;
            };
            uvc?: string;
            year?: number;
            make?: string;
            model?: string;
            trim?: string;
            series?: string;
            style?: string;
            colour: string | null;
            carfaxClaims: string | null;
            addOnOptions: components["schemas"]["ExportedOption"][];
            deductOptions: components["schemas"]["ExportedOption"][];
            addOns: string[] | null;
            deducts: string[] | null;
        };
        ExportedOption: {
            auto?: boolean;
            averageValue?: components["schemas"]["Money"];
            cleanValue?: components["schemas"]["Money"];
            extraCleanValue?: components["schemas"]["Money"];
            /** Format: uuid */
            id: string;
            name?: string;
            roughValue?: components["schemas"]["Money"];
        };
        PlatformAct: {
            /** Format: uuid */
            actId: string;
            /** Format: date-time */
            at: string;
            /** @description The platform key, by the id that its digest begins with. */
            actor: string;
            /** @description The `X-Request-Id` of the request. */
            requestId: string;
            /** @description One of `INTEGRATION_REGISTERED`, `INTEGRATION_CHANGED`, `KEY_ISSUED`, `KEY_REVOKED`, `RETAILER_GRANTED`, `RETAILER_WITHDRAWN`, `RETAILER_ENABLED`, `CREDITOR_GRANTED`, `CREDITOR_WITHDRAWN`, `DESTINATION_SET`, `DESTINATION_REMOVED`, `SECRET_ROTATED`, `RETAILER_REGISTERED`, `RETAILER_GROUP_REGISTERED`, `USER_REGISTERED`, `CREDITOR_REGISTERED`; later versions add others. */
            action: string;
            /** Format: uuid */
            integrationId?: string;
            /** Format: uuid */
            keyId?: string;
            /** Format: uuid */
            retailerId?: string;
            /**
             * Format: uuid
             * @description The group that a retailer belongs to from then on.
             */
            retailerGroupId?: string;
            /** Format: uuid */
            creditorId?: string;
            /** Format: uuid */
            userId?: string;
            /** @description Those that a registered or changed integration has from then on. */
            permissions?: string[];
        };
        IntegrationWrite: {
            /** Format: uuid */
            integrationId?: string;
            name: components["schemas"]["RecordName"];
            permissions?: components["schemas"]["Permissions"];
            rateLimit?: components["schemas"]["RateLimit"];
        };
        IntegrationChange: {
            name: components["schemas"]["RecordName"];
            permissions: components["schemas"]["Permissions"];
            rateLimit?: components["schemas"]["RateLimit"];
        };
        Integration: {
            /** Format: uuid */
            integrationId: string;
            name: string;
            permissions: components["schemas"]["Permissions"];
            rateLimit?: components["schemas"]["RateLimit"];
        };
        IntegrationRead: {
            /** Format: uuid */
            integrationId: string;
            name: string;
            permissions: components["schemas"]["Permissions"];
            rateLimit?: components["schemas"]["RateLimit"];
            /** @description The keys that are not revoked, the newest first; the newest 100 where there are more. */
            keys: components["schemas"]["IssuedKey"][];
            destination?: components["schemas"]["DestinationRead"];
        };
        IssuedKey: {
            /** Format: uuid */
            keyId: string;
            /** Format: date-time */
            createdAt: string;
        };
        /** @description Absent where none is set. A disabled one is here, too. */
        DestinationRead: {
            /** Format: uuid */
            destinationId: string;
            url: string;
            events?: components["schemas"]["EventFilter"];
            deliveriesPerSecond?: components["schemas"]["DeliveriesPerSecond"];
        };
        /** @description How many requests each key of the integration may make: so many at once, and as many again in each window. Without it, the limit of the installation applies. */
        RateLimit: {
            requests: number;
            windowSeconds: number;
        };
        Permissions: components["schemas"]["Permission"][];
        /**
         * @description `ENQUEUE_RETAILER_CHAT`: comment on behalf of a retailer's user. `READ_SIN`: read whole social insurance numbers in credit files, which are masked otherwise, and in exports, where they are null otherwise. `FORCE_PULL`: have a credit file pulled again although a recent one is there.
         * @enum {string}
         */
        Permission: "ENQUEUE_RETAILER_CHAT" | "READ_SIN" | "FORCE_PULL";
        KeyWrite: {
            /**
             * @description A live key begins with `cl_live_`, a test key with `cl_test_`. Both open the same.
             * @default true
             */
            live?: boolean;
        };
        Key: {
            /** Format: uuid */
            keyId: string;
            key: string;
        };
        DestinationWrite: {
            /** Format: uri */
            url: string;
            events?: components["schemas"]["EventFilter"];
            deliveriesPerSecond?: components["schemas"]["DeliveriesPerSecond"];
        };
        /** @description The webhooks that the destination gets. Absent where it gets all, those of later versions included. */
        EventFilter: components["schemas"]["WebhookEvent"][];
        /** @description How many requests with webhooks may begin in a second: first attempts, retries, replays and test events together. Absent where there is no limit. */
        DeliveriesPerSecond: number;
        Destination: {
            /** Format: uuid */
            destinationId: string;
            /** @description `whsec_` and base64 of the 32 bytes that sign; only when the destination is new. */
            secret?: string;
        };
        SecretRotation: {
            /**
             * @description How many hours the earlier secrets sign beside the new one.
             * @default 24
             */
            overlapHours?: number;
        };
        RotatedSecret: {
            /** @description `whsec_` and base64 of the 32 bytes that sign. */
            secret: string;
            /**
             * Format: date-time
             * @description When the last of the earlier secrets stops signing.
             */
            overlapEndsAt: string;
        };
        RecordName: string;
        NameWrite: {
            name: components["schemas"]["RecordName"];
        };
        RetailerWrite: {
            name: components["schemas"]["RecordName"];
            /**
             * Format: uuid
             * @description The group the retailer belongs to, if any.
             */
            retailerGroupId?: string;
        };
        UserWrite: {
            /** @description Required unless `lastName` is given, for a person with one name. */
            firstName?: string;
            /** @description Required unless `firstName` is given. */
            lastName?: string;
            /** Format: email */
            email: string;
            /** @default true */
            active?: boolean;
            retailerIds?: components["schemas"]["Ids"];
            retailerGroupIds?: components["schemas"]["Ids"];
        };
        Ids: string[];
        /**
         * @description Which deliveries to your destination are replayed. An unknown property is refused: a misspelt one would replay
         *     more than you asked for.
         */
        ReplayFilter: {
            /**
             * @description The state that a delivery must be in when the replay begins.
             * @default DEAD
             * @enum {string}
             */
            state?: "DEAD" | "DELIVERED";
            event?: components["schemas"]["WebhookEvent"];
            /**
             * Format: date-time
             * @description Only deliveries created at this time or later.
             */
            createdFrom?: string;
            /**
             * Format: date-time
             * @description Only deliveries created before this time, which is later than `createdFrom`.
             */
            createdBefore?: string;
        };
        Replay: {
            /** Format: uuid */
            replayId: string;
            /** @enum {string} */
            state: "COUNTING" | "RUNNING" | "COMPLETED" | "STOPPED" | "CANCELLED";
            /** @description Why the replay is `STOPPED`: `destination_disabled` or `destination_removed`. */
            reason?: string;
            /** @description The body of the request, as it was understood. */
            filter: components["schemas"]["ReplayFilter"];
            /** @description How many deliveries match; so far, while `COUNTING`. */
            matched: number;
            /** @description How many are back in the queue or sent. */
            replayed: number;
            /** @description How many were passed over. */
            skipped: number;
            /** @description How many are left; of an ended replay, left as they were. */
            remaining: number;
            /** Format: date-time */
            requestedAt: string;
            /**
             * Format: date-time
             * @description When the replay ended.
             */
            finishedAt?: string;
        };
        IntegrationEnabledEvent: {
            /** Format: uuid */
            retailerId: string;
            retailerName: string;
            /** @description The result of the integration's configuration, as the retailer gave it. */
            configJson?: {
                [key: string]: unknown;
            };
        };
        DecisionEvent: {
            /** Format: uuid */
            retailerId: string;
            status: string;
            /** Format: uuid */
            creditorId: string;
            /** Format: uuid */
            applicationId: string;
            conditions?: string;
        };
        OfferEvent: {
            /** Format: date */
            firstPaymentDate: string;
            /**
             * @description Hyphenated, unlike paymentFrequency.
             * @enum {string}
             */
            frequency: "WEEKLY" | "BI-WEEKLY" | "SEMI-MONTHLY" | "MONTHLY";
            interestRate: components["schemas"]["Rate"];
            approvedPayment?: components["schemas"]["Money"];
            /** @description The worksheet's rate less the decision's, when they differ. */
            rateReduction?: number;
            /** @description The term of the decision, or of the latest earlier one that gave it, less the worksheet's, in months, when they differ. */
            termStretch?: number;
            maxPayment?: components["schemas"]["Money"];
        } & components["schemas"]["DecisionEvent"];
        Money: {
            amount: number;
            /** @constant */
            currency: "CAD";
        };
        /** @description What the retailer proposes for the deal. */
        Worksheet: {
            /**
             * Format: uuid
             * @description The creditor's program.
             */
            programId?: string;
            /**
             * Format: uuid
             * @description The tier of the program.
             */
            tierId?: string;
            firstPaymentDate?: components["schemas"]["PaymentDate"];
            frequency?: components["schemas"]["Frequency"];
            /** @description Per cent per year, with five decimals at most. */
            interestRate?: number;
            /** @description Months. */
            term?: number;
            deliveryDate?: components["schemas"]["PaymentDate"];
            vehicle?: components["schemas"]["Vehicle"];
            /** @description What the vehicle is worth in the trade, in this condition and those below. */
            extraCleanWholesaleValue?: components["schemas"]["AmountFromZero"];
            cleanWholesaleValue?: components["schemas"]["AmountFromZero"];
            averageWholesaleValue?: components["schemas"]["AmountFromZero"];
            roughWholesaleValue?: components["schemas"]["AmountFromZero"];
            /** @description Kilometres. */
            drivingDistancePerYear?: number;
            isZeroEmissionVehicle?: boolean;
            taxExempt?: boolean;
            gstPercent?: components["schemas"]["Percentage"];
            gst?: components["schemas"]["AmountFromZero"];
            /** @description Whether a person changed the computed amount of `gst`. */
            gstAdjusted?: boolean;
            pstHstPercent?: components["schemas"]["Percentage"];
            pstHst?: components["schemas"]["AmountFromZero"];
            /** @description Whether a person changed the computed amount of `pstHst`. */
            pstHstAdjusted?: boolean;
            salePrice?: components["schemas"]["AmountFromZero"];
            cashDown?: components["schemas"]["AmountFromZero"];
            rebate?: components["schemas"]["AmountFromZero"];
            registrationFee?: components["schemas"]["AmountFromZero"];
            creditorFee?: components["schemas"]["AmountFromZero"];
            dealerReserve?: components["schemas"]["AmountFromZero"];
            totalFinancedAmount?: components["schemas"]["AmountFromZero"];
            /** @description The payment of each period. */
            worksheetPayment?: components["schemas"]["AmountFromZero"];
            tradeIn?: components["schemas"]["WorksheetText"];
            dealerAdminFee?: components["schemas"]["WorksheetText"];
            gpsFee?: components["schemas"]["WorksheetText"];
            licenseFee?: components["schemas"]["WorksheetText"];
            installationDeliveryFee?: components["schemas"]["WorksheetText"];
            ahInsuranceFee?: components["schemas"]["WorksheetText"];
            lifeInsuranceFee?: components["schemas"]["WorksheetText"];
            gapInsurance?: components["schemas"]["WorksheetText"];
            extServiceContract?: components["schemas"]["WorksheetText"];
        };
        /** @description As the retailer writes it, such as `499.00`; exports have the same text. */
        WorksheetText: string;
        Percentage: number;
        Vehicle: {
            /** @description Yours, or one that the platform makes. Answers and exports have one always. */
            id?: string;
            /** @description From 1981 on 17 letters and digits without I, O and Q; of a North American maker with its check digit. Answers and exports have it in capitals. */
            vin?: string;
            /** @description Such as `NEW`, `USED` or `DEMO`. */
            status?: string;
            year?: number;
            make?: string;
            model?: string;
            trim?: string;
            series?: string;
            style?: string;
            colour?: string;
            /** @description Universal Vehicle Code of the valuation guide. */
            uvc?: string;
            msrp?: components["schemas"]["AmountFromZero"];
            adjustedMsrp?: components["schemas"]["AmountFromZero"];
            odometer?: components["schemas"]["Odometer"];
            /** @description In place of `odometer`, for a mileage in kilometres. */
            odometerKm?: number;
            carfaxClaims?: string;
            /** @description Options that raise the value. */
            addOnOptions?: components["schemas"]["VehicleOption"][];
            /** @description Missing options that lower the value. */
            deductOptions?: components["schemas"]["VehicleOption"][];
            /** @description The names of options that raise the value. */
            addOns?: string[];
            /** @description The names of missing options that lower the value. */
            deducts?: string[];
        };
        Odometer: {
            amount: number;
            /** @description Such as `KM`. */
            unit: string;
        };
        /** @description An option of the vehicle, with its value by the vehicle's condition. */
        VehicleOption: {
            /**
             * Format: uuid
             * @description Yours, or one that the platform makes.
             */
            id?: string;
            name?: string;
            /** @description Whether the valuation guide added the option by itself. */
            auto?: boolean;
            extraCleanValue?: components["schemas"]["AmountFromZero"];
            cleanValue?: components["schemas"]["AmountFromZero"];
            averageValue?: components["schemas"]["AmountFromZero"];
            roughValue?: components["schemas"]["AmountFromZero"];
        };
    };
    responses: {
        /** @description A field is not valid. */
        BureauCredentialsRefused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request cannot be accepted; `message` says why and `errors` names the fields. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No key, one that is not known or no longer valid, or one of the other kind. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description How to authenticate (RFC 6750). */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The key lacks the permission that the operation asks for. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No such record within the caller's grants. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A request with the same Idempotency-Key is still running. */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is larger than the operation takes; `message` says how much that is. */
        TooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is not declared as JSON in UTF-8. */
        NotJson: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The Idempotency-Key came earlier with another body. */
        Unprocessable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The key's quota is used up, or too many of its requests or too many bytes are under way. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Something failed on our side. The same request may succeed later; with the same Idempotency-Key it takes effect once. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A part of the platform is unavailable for the moment, did not answer in time, or is overloaded. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A field is not valid, or the user is not eligible; `code` says which. */
        ConsentRefused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No such applicant within your grants. */
        ApplicantNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A field is not valid, or the submission takes no comment; `code` says which. */
        CreditorCommentRefused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The comment is not valid, the user is not eligible, or the application takes no comments. */
        RetailerCommentRefused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The permission, or the grant on the retailer, is missing. */
        RetailerCommentForbidden: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such application, or it has no conversation with this creditor. */
        RetailerCommentNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No such submission within your grants. */
        ConversationNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No key, one that is not known or no longer valid, or one of the other kind. The body is this alone, also for a client that asks for problem details. */
        CreditFileUnauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description How to authenticate (RFC 6750). */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": 401
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status: 401;
                };
            };
        };
        /** @description A field is not valid, there is no such applicant within your grants, or no pull is permitted. */
        CreditFileRequestRefused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No such applicant within your grants, or no credit file of the applicant. */
        CreditFileNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description How the latest pull of the applicant has ended; absent without a pull. */
                "X-Credit-File-Status"?: components["schemas"]["CreditFileStatus"];
                "Preference-Applied": components["headers"]["PreferenceApplied"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A field is not valid, or there is no such submission within your grants. */
        OnSubmissionRefused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A field is not valid, or there is no such submission within your grants. */
        DecisionRefused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
         * @example order-7781-attempt-1
         */
        RequestId: string;
        /**
         * @description W3C trace context; passed on. A malformed one is left out.
         * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
         */
        TraceParent: string;
        /**
         * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
         * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
         */
        IdempotencyKey: string;
        /**
         * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
         * @example 0198c0de-0000-7000-8000-00000000a001
         */
        RetailerContext: string;
        /** @example 0198c0de-0000-7000-8000-00000000b001 */
        ApplicationId: string;
        /** @example 0198c0de-0000-7000-8000-00000000c001 */
        CreditorId: string;
        /** @example 0198c0de-0000-7000-8000-00000000d001 */
        IntegrationId: string;
        /** @example 0198c0de-0000-7000-8000-00000000a001 */
        RetailerId: string;
        /** @description How many records one page holds at most. */
        Limit: number;
        /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
        Cursor: string;
        /** @example 0198c0de-0000-7000-8000-00000000f001 */
        ApplicantId: string;
        /** @example 0198c0de-0000-7000-8000-000000009001 */
        ConsentId: string;
        /**
         * @description The `webhook-id` that your receiver got, and the `deliveryId` of the list.
         * @example 0198c0de-0000-7000-8000-000000005001
         */
        DeliveryId: string;
        /**
         * @description The retailer whose records are listed; it must be granted to the integration. May be left out by an integration to which exactly one retailer is granted.
         * @example 0198c0de-0000-7000-8000-00000000a001
         */
        RetailerOfList: string;
        /** @example 0198c0de-0000-7000-8000-000000006001 */
        ReplayId: string;
    };
    requestBodies: never;
    headers: {
        /** @description The request's id, yours or a new one. */
        RequestId: string;
        /** @description `true` when this is the stored answer of an earlier request with the same Idempotency-Key. */
        IdempotentReplayed: "true";
        /** @description Seconds to wait before trying again. */
        RetryAfter: number;
        /** @description What is left of the quota, as `"default";r=<requests>;t=<seconds until it is whole again>`. */
        RateLimit: string;
        /** @description The quota, as `"default";q=<requests>;w=<seconds>`. */
        RateLimitPolicy: string;
        /** @description The preference of `Prefer` that was honoured (RFC 7240), such as `wait=30`. */
        PreferenceApplied: string;
    };
    pathItems: never;
};
export type $defs = Record<string, never>;
export interface operations {
    listApplications: {
        parameters: {
            query?: {
                /** @description Lists the applications in this status only. */
                status?: components["schemas"]["ApplicationStatus"];
                /** @description Lists the application with this reference number, of which a retailer has one at most. Upper and lower case differ. */
                referenceNumber?: string;
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description The retailer whose records are listed; it must be granted to the integration. May be left out by an integration to which exactly one retailer is granted.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerOfList"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the applications. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *           "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                     *           "type": "APPROVAL",
                     *           "status": "SUBMITTED",
                     *           "referenceNumber": "DEAL-2026-0042",
                     *           "submissions": [
                     *             {
                     *               "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *               "submittedAt": "2026-03-02T15:04:05.678Z"
                     *             }
                     *           ],
                     *           "createdAt": "2026-03-02T14:58:21.345Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ApplicationSummary"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createApplication: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "type": "APPROVAL",
                 *       "referenceNumber": "DEAL-2026-0042",
                 *       "primaryApplicant": {
                 *         "firstName": "Maya",
                 *         "lastName": "Tremblay",
                 *         "sin": "046454286",
                 *         "dateOfBirth": "1988-07-14",
                 *         "phoneNumber": "+1 514 555 0143",
                 *         "email": "maya.tremblay@example.com",
                 *         "addressHistory": [
                 *           {
                 *             "streetNo": "1280",
                 *             "streetName": "Sherbrooke",
                 *             "streetType": "Street",
                 *             "direction": "W",
                 *             "city": "Montreal",
                 *             "province": "QC",
                 *             "postalCode": "H3G 1H9",
                 *             "residenceType": "RENT",
                 *             "monthlyRentOrMortgage": 1450,
                 *             "yearsAtAddress": 3,
                 *             "monthsAtAddress": 2
                 *           }
                 *         ],
                 *         "employmentHistory": [
                 *           {
                 *             "employerName": "Northern Lights Bakery",
                 *             "occupation": "Baker",
                 *             "status": "FULL_TIME",
                 *             "type": "TRADES",
                 *             "grossIncome": 2100,
                 *             "incomeFrequency": "BI_WEEKLY",
                 *             "yearsWorked": 5,
                 *             "monthsWorked": 0
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ApplicationWrite"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                     *       "type": "APPROVAL",
                     *       "status": "SAVED",
                     *       "referenceNumber": "DEAL-2026-0042",
                     *       "primaryApplicant": {
                     *         "applicantId": "0198c0de-0000-7000-8000-00000000f001",
                     *         "firstName": "Maya",
                     *         "lastName": "Tremblay",
                     *         "sin": "***-***-286",
                     *         "dateOfBirth": "1988-07-14",
                     *         "phoneNumber": "+15145550143",
                     *         "email": "maya.tremblay@example.com"
                     *       },
                     *       "submissions": [],
                     *       "createdAt": "2026-03-02T14:58:21.345Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Application"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            /** @description The retailer has an application of this reference number, or the same request is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getApplication: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The application. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                     *       "type": "APPROVAL",
                     *       "status": "SUBMITTED",
                     *       "referenceNumber": "DEAL-2026-0042",
                     *       "primaryApplicant": {
                     *         "applicantId": "0198c0de-0000-7000-8000-00000000f001",
                     *         "firstName": "Maya",
                     *         "lastName": "Tremblay",
                     *         "sin": "***-***-286",
                     *         "dateOfBirth": "1988-07-14",
                     *         "phoneNumber": "+15145550143",
                     *         "email": "maya.tremblay@example.com"
                     *       },
                     *       "submissions": [
                     *         {
                     *           "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *           "submittedAt": "2026-03-02T15:04:05.678Z",
                     *           "worksheet": {
                     *             "firstPaymentDate": "2026-03-31",
                     *             "frequency": "MONTHLY",
                     *             "interestRate": 7.49,
                     *             "term": 60,
                     *             "salePrice": 28995,
                     *             "cashDown": 2000,
                     *             "totalFinancedAmount": 29300,
                     *             "vehicle": {
                     *               "vin": "1HGBH41JXMN109186",
                     *               "year": 2024,
                     *               "make": "Honda",
                     *               "model": "Civic",
                     *               "status": "USED"
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "createdAt": "2026-03-02T14:58:21.345Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Application"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    submitApplication: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submittedByUserId": "0198c0de-0000-7000-8000-00000000e001",
                 *       "creditorIds": [
                 *         "0198c0de-0000-7000-8000-00000000c001"
                 *       ],
                 *       "consents": [
                 *         {
                 *           "applicantId": "0198c0de-0000-7000-8000-00000000f001",
                 *           "creditConsent": true,
                 *           "textVersion": "2026-01"
                 *         }
                 *       ],
                 *       "worksheet": {
                 *         "firstPaymentDate": "2026-03-31",
                 *         "frequency": "MONTHLY",
                 *         "interestRate": 7.49,
                 *         "term": 60,
                 *         "salePrice": 28995,
                 *         "cashDown": 2000,
                 *         "totalFinancedAmount": 29300,
                 *         "vehicle": {
                 *           "vin": "1HGBH41JXMN109186",
                 *           "year": 2024,
                 *           "make": "Honda",
                 *           "model": "Civic",
                 *           "status": "USED",
                 *           "odometer": {
                 *             "amount": 18250,
                 *             "unit": "KM"
                 *           },
                 *           "addOnOptions": [
                 *             {
                 *               "name": "Navigation",
                 *               "auto": true,
                 *               "cleanValue": 350
                 *             }
                 *           ],
                 *           "deductOptions": [
                 *             {
                 *               "name": "No sunroof",
                 *               "auto": false,
                 *               "cleanValue": 200
                 *             }
                 *           ]
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SubmissionWrite"];
            };
        };
        responses: {
            /** @description Submitted. The application with all its submissions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                     *       "type": "APPROVAL",
                     *       "status": "SUBMITTED",
                     *       "referenceNumber": "DEAL-2026-0042",
                     *       "primaryApplicant": {
                     *         "applicantId": "0198c0de-0000-7000-8000-00000000f001",
                     *         "firstName": "Maya",
                     *         "lastName": "Tremblay",
                     *         "sin": "***-***-286",
                     *         "dateOfBirth": "1988-07-14",
                     *         "phoneNumber": "+15145550143",
                     *         "email": "maya.tremblay@example.com"
                     *       },
                     *       "submissions": [
                     *         {
                     *           "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *           "submittedAt": "2026-03-02T15:04:05.678Z",
                     *           "worksheet": {
                     *             "firstPaymentDate": "2026-03-31",
                     *             "frequency": "MONTHLY",
                     *             "interestRate": 7.49,
                     *             "term": 60,
                     *             "salePrice": 28995,
                     *             "cashDown": 2000,
                     *             "totalFinancedAmount": 29300,
                     *             "vehicle": {
                     *               "vin": "1HGBH41JXMN109186",
                     *               "year": 2024,
                     *               "make": "Honda",
                     *               "model": "Civic",
                     *               "status": "USED"
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "createdAt": "2026-03-02T14:58:21.345Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Application"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            /** @description The application cannot be submitted to these creditors, or the same request is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    archiveApplication: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Archived. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                     *       "type": "APPROVAL",
                     *       "status": "ARCHIVED",
                     *       "referenceNumber": "DEAL-2026-0042",
                     *       "primaryApplicant": {
                     *         "applicantId": "0198c0de-0000-7000-8000-00000000f001",
                     *         "firstName": "Maya",
                     *         "lastName": "Tremblay",
                     *         "sin": "***-***-286",
                     *         "dateOfBirth": "1988-07-14",
                     *         "phoneNumber": "+15145550143",
                     *         "email": "maya.tremblay@example.com"
                     *       },
                     *       "submissions": [],
                     *       "createdAt": "2026-03-02T14:58:21.345Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Application"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setEquifaxCredentials: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EquifaxCredentialsWrite"];
            };
        };
        responses: {
            /** @description Set. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BureauCredentialsRefused"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setTransUnionCredentials: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "memberCode": "HM0012345",
                 *       "password": "9Qz5wTn1",
                 *       "baseUrl": "https://transunion.example.com"
                 *     }
                 */
                "application/json": components["schemas"]["TransUnionCredentialsWrite"];
            };
        };
        responses: {
            /** @description Set. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BureauCredentialsRefused"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getBureauCredentials: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
                /** @example EQUIFAX */
                source: components["schemas"]["CreditFileSource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credentials, without their secrets. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "source": "EQUIFAX",
                     *       "member": "999ZB12345",
                     *       "baseUrl": "https://equifax.example.com",
                     *       "setAt": "2026-03-02T15:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["BureauCredentials"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description The retailer has no credentials at the bureau. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 404,
                     *       "message": "The retailer has no credentials for this bureau.",
                     *       "code": "bureau_credentials_not_found",
                     *       "requestId": "0198c0de-7f5a-7c3e-9d61-3f3f0f2a9b11"
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeBureauCredentials: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
                /** @example EQUIFAX */
                source: components["schemas"]["CreditFileSource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listConsents: {
        parameters: {
            query?: {
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000f001 */
                applicantId: components["parameters"]["ApplicantId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the list. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RecordedConsent"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ApplicantNotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    recordConsent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000f001 */
                applicantId: components["parameters"]["ApplicantId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsentWrite"];
            };
        };
        responses: {
            /** @description The consent was recorded. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordedConsent"];
                };
            };
            400: components["responses"]["ConsentRefused"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ApplicantNotFound"];
            /** @description The application is archived, the applicant was erased, or a request with the same Idempotency-Key is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeConsent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000f001 */
                applicantId: components["parameters"]["ApplicantId"];
                /** @example 0198c0de-0000-7000-8000-000000009001 */
                consentId: components["parameters"]["ConsentId"];
            };
            cookie?: never;
        };
        /** @description Who revokes the consent. Without a body, your integration alone is recorded. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ConsentRevocation"];
            };
        };
        responses: {
            /** @description The consent is revoked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordedConsent"];
                };
            };
            /** @description The user is not eligible. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description No such applicant within your grants, or no such consent. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    commentAsCreditor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreditorComment"];
            };
        };
        responses: {
            /** @description The comment was added. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description The id of the comment.
                         */
                        id: string;
                        /** Format: date-time */
                        createdAt: string;
                    };
                };
            };
            400: components["responses"]["CreditorCommentRefused"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    commentAsRetailerUser: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetailerUserComment"];
            };
        };
        responses: {
            /** @description The comment was added and is queued for delivery to the creditor. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["RetailerCommentRefused"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["RetailerCommentForbidden"];
            404: components["responses"]["RetailerCommentNotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getConversation: {
        parameters: {
            query?: {
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the conversation. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Comment"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ConversationNotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    requestCreditFile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description `force-pull` pulls again although a file of the last 30 days is there; it needs the permission `FORCE_PULL`, and belongs to what an `Idempotency-Key` stands for. `Preference-Applied` is absent when the answer is an earlier pull all the same. Other preferences are ignored.
                 * @example force-pull
                 */
                Prefer?: string;
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /**
                 * @description An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000b001
                 */
                applicationId: string;
                /**
                 * @description The primary applicant or the co-applicant of the application. An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000f001
                 */
                applicantId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "source": "EQUIFAX",
                 *       "requestId": "deal-7781"
                 *     }
                 */
                "application/json": components["schemas"]["CreditFileRequest"];
            };
        };
        responses: {
            /** @description The pull: a new one, or the earlier one that the request leads to. Poll *Read a credit file* for its result, from `Retry-After` on. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    /** @description The path at which clients read the credit file, to be resolved against the request's URL. */
                    Location: string;
                    "Retry-After": components["headers"]["RetryAfter"];
                    "Preference-Applied": components["headers"]["PreferenceApplied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditFilePull"];
                };
            };
            400: components["responses"]["CreditFileRequestRefused"];
            401: components["responses"]["CreditFileUnauthorized"];
            /** @description The request has `Prefer` with `force-pull`, and the integration lacks the permission `FORCE_PULL`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": 403,
                     *       "message": "Prefer: force-pull needs the permission FORCE_PULL",
                     *       "code": "permission_missing",
                     *       "requestId": "0198c0de-7f5a-7c3e-9d61-3f3f0f2a9b11"
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    readCreditFile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description `wait=N` waits for the pull up to N seconds, 30 at most. Other preferences are ignored.
                 * @example wait=30
                 */
                Prefer?: string;
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /**
                 * @description An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000b001
                 */
                applicationId: string;
                /**
                 * @description The primary applicant or the co-applicant of the application. An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000f001
                 */
                applicantId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credit file, or the pull that is under way. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    /** @description How the latest pull of the applicant stands. */
                    "X-Credit-File-Status": components["schemas"]["CreditFileStatus"];
                    /** @description Seconds to wait before reading again, while the pull is under way. */
                    "Retry-After"?: number;
                    "Preference-Applied": components["headers"]["PreferenceApplied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditFile"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["CreditFileUnauthorized"];
            404: components["responses"]["CreditFileNotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPulls: {
        parameters: {
            query?: {
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /**
                 * @description An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000b001
                 */
                applicationId: string;
                /**
                 * @description The primary applicant or the co-applicant of the application. An id that is no UUID is answered like an unknown one.
                 * @example 0198c0de-0000-7000-8000-00000000f001
                 */
                applicantId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the pulls. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "0198c0de-0000-7000-8000-000000003001",
                     *           "source": "EQUIFAX",
                     *           "state": "COMPLETE",
                     *           "requestedAt": "2026-03-02T15:04:05.678Z",
                     *           "finishedAt": "2026-03-02T15:04:07.901Z",
                     *           "requestedBy": "0198c0de-0000-7000-8000-00000000d001",
                     *           "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                     *           "requestId": "0198c0de-7f5a-7c3e-9d61-3f3f0f2a9b11",
                     *           "callerRequestId": "deal-7781",
                     *           "forced": false,
                     *           "sentAt": "2026-03-02T15:04:05.980Z",
                     *           "hitType": "HIT",
                     *           "consent": {
                     *             "consentId": "0198c0de-0000-7000-8000-000000009001",
                     *             "purpose": "CREDIT_APPLICATION",
                     *             "textVersion": "2026-01",
                     *             "documentSha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *             "capturedAt": "2026-03-02T14:58:11.000Z",
                     *             "capturedBy": "0198c0de-0000-7000-8000-00000000e001",
                     *             "expiresAt": "2027-03-02T14:58:11.000Z"
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["CreditFilePullEvidence"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ApplicantNotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    eraseApplicant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
                /** @example 0198c0de-0000-7000-8000-00000000f001 */
                applicantId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Erased. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["ApplicantNotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    readCreditFileDocument: {
        parameters: {
            query: {
                /**
                 * @description The last second at which the link opens the file, in seconds since 1970.
                 * @example 1772464745
                 */
                expires: string;
                /** @example 9Kq2mT7xKcV4bN8rLzJ3hWyD6sGpA1eU5oXiR0tYqk1 */
                signature: string;
            };
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-000000004001 */
                fileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The PDF. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    /** @description A name for the file, should it be saved. */
                    "Content-Disposition": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": unknown;
                };
            };
            400: components["responses"]["BadRequest"];
            /** @description The link has expired or ended, or it is not as it was made. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The file is no longer kept, or its document is too large. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDecision: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The latest decision. Properties that the creditor did not give are left out. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Decision"];
                };
            };
            400: components["responses"]["OnSubmissionRefused"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    recordDecision: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecisionWrite"];
            };
        };
        responses: {
            /** @description Recorded. The decision as *Read the latest decision* would give it now: not every figure of the request. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Decision"];
                };
            };
            400: components["responses"]["DecisionRefused"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getIncomeStatus: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The income status. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *       "incomeStatus": "VERIFIED",
                     *       "setAt": "2026-03-02T15:04:05.678Z"
                     *     }
                     */
                    "application/json": {
                        /** Format: uuid */
                        applicationId: string;
                        /** Format: uuid */
                        creditorId: string;
                        incomeStatus?: components["schemas"]["IncomeStatus"];
                        /** Format: date-time */
                        setAt?: string;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setIncomeStatus: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "incomeStatus": "VERIFIED"
                 *     }
                 */
                "application/json": components["schemas"]["IncomeStatusWrite"];
            };
        };
        responses: {
            /** @description Set. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *       "incomeStatus": "VERIFIED"
                     *     }
                     */
                    "application/json": {
                        /** Format: uuid */
                        applicationId: string;
                        /** Format: uuid */
                        creditorId: string;
                        incomeStatus: components["schemas"]["IncomeStatus"];
                    };
                };
            };
            400: components["responses"]["OnSubmissionRefused"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDecisions: {
        parameters: {
            query?: {
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the history. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "sequence": 2,
                     *           "recordedAt": "2026-03-02T16:30:00.000Z",
                     *           "integrationId": "0198c0de-0000-7000-8000-00000000d002",
                     *           "decision": "APPROVED",
                     *           "firstPaymentDate": "2026-03-31",
                     *           "paymentFrequency": "BI_WEEKLY",
                     *           "interestRate": 6.99,
                     *           "paymentAmount": 412.55,
                     *           "term": 72,
                     *           "conditions": "Proof of income not older than 30 days."
                     *         },
                     *         {
                     *           "sequence": 1,
                     *           "recordedAt": "2026-03-02T15:04:05.678Z",
                     *           "integrationId": null,
                     *           "decision": "AWAITING_DECISION"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["RecordedDecision"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Only deliveries in this state. */
                state?: components["schemas"]["DeliveryState"];
                /** @description Only deliveries of this event. */
                event?: components["schemas"]["WebhookEvent"];
                /** @description Only deliveries of events of this application. */
                applicationId?: string;
                /**
                 * @description Only deliveries created at this time or later.
                 * @example 2026-03-02T00:00:00Z
                 */
                createdFrom?: string;
                /**
                 * @description Only deliveries created before this time, which is later than `createdFrom`.
                 * @example 2026-03-03T00:00:00Z
                 */
                createdBefore?: string;
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the list. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "deliveryId": "0198c0de-0000-7000-8000-000000005001",
                     *           "event": "applicationApproved",
                     *           "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *           "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *           "sequence": 2,
                     *           "state": "DEAD",
                     *           "reason": "attempts_exhausted",
                     *           "attemptCount": 10,
                     *           "createdAt": "2026-03-02T15:04:05.678Z",
                     *           "settledAt": "2026-03-05T18:31:09.120Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["WebhookDelivery"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /**
                 * @description The `webhook-id` that your receiver got, and the `deliveryId` of the list.
                 * @example 0198c0de-0000-7000-8000-000000005001
                 */
                deliveryId: components["parameters"]["DeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveryId": "0198c0de-0000-7000-8000-000000005001",
                     *       "event": "applicationApproved",
                     *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *       "sequence": 2,
                     *       "state": "DEAD",
                     *       "reason": "destination_disabled",
                     *       "attemptCount": 2,
                     *       "createdAt": "2026-03-02T15:04:05.678Z",
                     *       "settledAt": "2026-03-05T18:31:09.120Z",
                     *       "destinationDisabledReason": "gone",
                     *       "attempts": [
                     *         {
                     *           "startedAt": "2026-03-02T15:04:05.690Z",
                     *           "durationMs": 15000,
                     *           "failure": "deadline",
                     *           "failureMessage": "Your receiver did not answer in time."
                     *         },
                     *         {
                     *           "startedAt": "2026-03-02T15:04:25.312Z",
                     *           "durationMs": 41,
                     *           "status": 500,
                     *           "answer": "{\"error\":\"the database is read-only\"}"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        attempts: components["schemas"]["WebhookAttempt"][];
                    } & components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such delivery to your destination. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayDelivery: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /**
                 * @description The `webhook-id` that your receiver got, and the `deliveryId` of the list.
                 * @example 0198c0de-0000-7000-8000-000000005001
                 */
                deliveryId: components["parameters"]["DeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery is `DUE`, or `WAITING` for an earlier one. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveryId": "0198c0de-0000-7000-8000-000000005001",
                     *       "event": "applicationApproved",
                     *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                     *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *       "sequence": 2,
                     *       "state": "DUE",
                     *       "attemptCount": 10,
                     *       "createdAt": "2026-03-02T15:04:05.678Z",
                     *       "nextAttemptAt": "2026-03-09T09:00:00.000Z",
                     *       "replayedAt": "2026-03-09T09:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description There is no such delivery to your destination. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The delivery cannot be replayed now, or a request with the same Idempotency-Key is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    sendTestEvent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "applicationApproved"
                 *     }
                 */
                "application/json": components["schemas"]["TestEvent"];
            };
        };
        responses: {
            /** @description The test event was sent, or could not be sent to the URL of the destination. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentTestEvent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description Your integration has no webhook destination. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another test event to your destination is under way, or a request with the same Idempotency-Key is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDestination: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The destination. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnDestination"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description Your integration has no webhook destination. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    pauseDestination: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "hours": 2
                 *     }
                 */
                "application/json": components["schemas"]["Pause"];
            };
        };
        responses: {
            /** @description The destination, which is paused. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "destinationId": "0198c0de-0000-7000-8000-00000000e001",
                     *       "url": "https://hooks.example.com/creditlane",
                     *       "lastSuccessAt": "2026-03-02T15:04:05.678Z",
                     *       "pausedUntil": "2026-03-02T17:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["OwnDestination"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description Your integration has no webhook destination. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resumeDestination: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The destination, which is not paused. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "destinationId": "0198c0de-0000-7000-8000-00000000e001",
                     *       "url": "https://hooks.example.com/creditlane",
                     *       "lastSuccessAt": "2026-03-02T15:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["OwnDestination"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description Your integration has no webhook destination. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description `true` lists active users only, `false` inactive ones only. */
                active?: boolean;
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description The retailer whose records are listed; it must be granted to the integration. May be left out by an integration to which exactly one retailer is granted.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerOfList"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the users. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "userId": "0198c0de-0000-7000-8000-00000000e001",
                     *           "firstName": "Noor",
                     *           "lastName": "Singh",
                     *           "email": "noor.singh@example.com",
                     *           "active": true,
                     *           "retailerIds": [
                     *             "0198c0de-0000-7000-8000-00000000a001"
                     *           ],
                     *           "retailerGroupIds": []
                     *         },
                     *         {
                     *           "userId": "0198c0de-0000-7000-8000-00000000e002",
                     *           "firstName": "Ariel",
                     *           "lastName": "Roy",
                     *           "email": "ariel.roy@example.com",
                     *           "active": false,
                     *           "retailerIds": [],
                     *           "retailerGroupIds": [
                     *             "0198c0de-0000-7000-8000-00000000a101"
                     *           ]
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["RetailerUser"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            /** @description A parameter is not valid, or there is no such retailer within your grants. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listRetailers: {
        parameters: {
            query?: {
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the retailers. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                     *           "name": "Harbour Motors",
                     *           "retailerGroupId": "0198c0de-0000-7000-8000-00000000a101",
                     *           "grantedAt": "2026-02-02T15:04:05.678Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["GrantedRetailer"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCreditors: {
        parameters: {
            query?: {
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the creditors. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *           "name": "First Prairie Finance",
                     *           "disabled": false,
                     *           "grantedAt": "2026-02-02T15:04:05.678Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["GrantedCreditor"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    enableIntegration: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001"
                 *     }
                 */
                "application/json": components["schemas"]["EnableIntegration"];
            };
        };
        responses: {
            /** @description Enabled. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *       "status": "ENABLED"
                     *     }
                     */
                    "application/json": components["schemas"]["IntegrationStatusSet"];
                };
            };
            /** @description The body cannot be accepted, or there is no such creditor within your grants. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The status is not `REQUESTED`, or a request with the same Idempotency-Key is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    disableIntegration: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "reason": "The creditor ended the contract."
                 *     }
                 */
                "application/json": components["schemas"]["DisableIntegration"];
            };
        };
        responses: {
            /** @description Disabled. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *       "status": "DISABLED"
                     *     }
                     */
                    "application/json": components["schemas"]["IntegrationStatusSet"];
                };
            };
            /** @description The body cannot be accepted, or there is no such creditor within your grants. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setIntegrationStatus: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "status": "REQUESTED"
                 *     }
                 */
                "application/json": components["schemas"]["SetIntegrationStatus"];
            };
        };
        responses: {
            /** @description Set. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *       "status": "REQUESTED"
                     *     }
                     */
                    "application/json": components["schemas"]["IntegrationStatusSet"];
                };
            };
            /** @description The body cannot be accepted, or there is no such creditor within your grants. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            /** @description The status is not one of the three, or the Idempotency-Key came earlier with another body. */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getIntegrationEnablement: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The status. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                     *       "status": "DISABLED",
                     *       "reason": "The creditor ended the contract.",
                     *       "setAt": "2026-03-02T15:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["IntegrationEnablement"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    enableForRetailer: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "configJson": {
                 *         "dealerCode": "H-1047",
                 *         "locations": [
                 *           "MONTREAL",
                 *           "LAVAL"
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["EnableForRetailer"];
            };
        };
        responses: {
            /** @description Enabled. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "integrationId": "0198c0de-0000-7000-8000-00000000d001",
                     *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                     *       "status": "ENABLED"
                     *     }
                     */
                    "application/json": components["schemas"]["EnabledForRetailer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description There is no such integration or no such retailer. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportApplication: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The retailer that the call is made for. It must be granted to the integration, and the application must belong to it or to another retailer of its group; otherwise the answer is that of a record that does not exist.
                 * @example 0198c0de-0000-7000-8000-00000000a001
                 */
                "X-Service-Retailer-ID"?: components["parameters"]["RetailerContext"];
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000b001 */
                applicationId: components["parameters"]["ApplicationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExportWrite"];
            };
        };
        responses: {
            /** @description Exported. The webhook is sent from now on. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description No such application, submission, or integration that may receive it. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The application is archived, an applicant was erased, or a request with the same Idempotency-Key is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPlatformActs: {
        parameters: {
            query?: {
                /** @description How many records one page holds at most. */
                limit?: components["parameters"]["Limit"];
                /** @description The `nextCursor` of the page before. Opaque; leave it out for the first page. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the list. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "actId": "0198c0de-0000-7000-8000-0000000ac002",
                     *           "at": "2026-03-02T15:04:07.120Z",
                     *           "actor": "9f86d081-884c-8d65-89a2-feaa0c55ad01",
                     *           "requestId": "0198c0de-7f5a-7c3e-9d61-3f3f0f2a9b12",
                     *           "action": "RETAILER_GRANTED",
                     *           "integrationId": "0198c0de-0000-7000-8000-00000000d001",
                     *           "retailerId": "0198c0de-0000-7000-8000-00000000a001"
                     *         },
                     *         {
                     *           "actId": "0198c0de-0000-7000-8000-0000000ac001",
                     *           "at": "2026-03-02T15:04:05.678Z",
                     *           "actor": "9f86d081-884c-8d65-89a2-feaa0c55ad01",
                     *           "requestId": "0198c0de-7f5a-7c3e-9d61-3f3f0f2a9b11",
                     *           "action": "INTEGRATION_REGISTERED",
                     *           "integrationId": "0198c0de-0000-7000-8000-00000000d001",
                     *           "permissions": [
                     *             "ENQUEUE_RETAILER_CHAT"
                     *           ]
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["PlatformAct"][];
                        nextCursor: components["schemas"]["NextCursor"];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    registerIntegration: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Maple Lending Bridge",
                 *       "permissions": [
                 *         "ENQUEUE_RETAILER_CHAT"
                 *       ],
                 *       "rateLimit": {
                 *         "requests": 600,
                 *         "windowSeconds": 60
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["IntegrationWrite"];
            };
        };
        responses: {
            /** @description Registered, now or before. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "integrationId": "0198c0de-0000-7000-8000-00000000d001",
                     *       "name": "Maple Lending Bridge",
                     *       "permissions": [
                     *         "ENQUEUE_RETAILER_CHAT"
                     *       ],
                     *       "rateLimit": {
                     *         "requests": 600,
                     *         "windowSeconds": 60
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Integration"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description An integration with the id is registered otherwise, or the same request is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getIntegration: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The integration. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "integrationId": "0198c0de-0000-7000-8000-00000000d001",
                     *       "name": "Maple Lending Bridge",
                     *       "permissions": [
                     *         "ENQUEUE_RETAILER_CHAT"
                     *       ],
                     *       "rateLimit": {
                     *         "requests": 600,
                     *         "windowSeconds": 60
                     *       },
                     *       "keys": [
                     *         {
                     *           "keyId": "0198c0de-0000-7000-8000-000000001001",
                     *           "createdAt": "2026-03-02T15:04:05.678Z"
                     *         }
                     *       ],
                     *       "destination": {
                     *         "destinationId": "0198c0de-0000-7000-8000-00000000e001",
                     *         "url": "https://hooks.maple.example/creditlane",
                     *         "events": [
                     *           "applicationBooked",
                     *           "applicationDeclined"
                     *         ],
                     *         "deliveriesPerSecond": 20
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["IntegrationRead"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    changeIntegration: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Maple Lending Bridge",
                 *       "permissions": [
                 *         "ENQUEUE_RETAILER_CHAT",
                 *         "READ_SIN"
                 *       ],
                 *       "rateLimit": {
                 *         "requests": 600,
                 *         "windowSeconds": 60
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["IntegrationChange"];
            };
        };
        responses: {
            /** @description Changed. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    issueKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "live": true
                 *     }
                 */
                "application/json": components["schemas"]["KeyWrite"];
            };
        };
        responses: {
            /** @description Issued. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "keyId": "0198c0de-0000-7000-8000-000000001001",
                     *       "key": "cl_live_9fQ2mT7xKcV4bN8rLzJ3hWyD6sGpA1eU5oXiR0tYq_k1M2nB"
                     *     }
                     */
                    "application/json": components["schemas"]["Key"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The integration has 100 keys that are not revoked, or the same request is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-000000001001 */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Withdrawn. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    grantRetailer: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Granted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    withdrawRetailer: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Withdrawn. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    grantCreditor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Granted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    withdrawCreditor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Withdrawn. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setDestination: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DestinationWrite"];
            };
        };
        responses: {
            /** @description Set. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Destination"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeDestination: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateSecret: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000d001 */
                integrationId: components["parameters"]["IntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlapHours": 48
                 *     }
                 */
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            /** @description Rotated. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfFJrp1TMY=",
                     *       "overlapEndsAt": "2026-03-03T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["RotatedSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description There is no such integration, or it has no destination. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many earlier secrets still sign, or the same request is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    registerRetailer: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a001 */
                retailerId: components["parameters"]["RetailerId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Harbour Motors"
                 *     }
                 */
                "application/json": components["schemas"]["RetailerWrite"];
            };
        };
        responses: {
            /** @description Registered. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    registerRetailerGroup: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000a101 */
                retailerGroupId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Harbour Auto Group"
                 *     }
                 */
                "application/json": components["schemas"]["NameWrite"];
            };
        };
        responses: {
            /** @description Registered. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    registerUser: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000e001 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "firstName": "Noor",
                 *       "lastName": "Singh",
                 *       "email": "noor.singh@example.com",
                 *       "retailerIds": [
                 *         "0198c0de-0000-7000-8000-00000000a001"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UserWrite"];
            };
        };
        responses: {
            /** @description Registered. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    registerCreditor: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-00000000c001 */
                creditorId: components["parameters"]["CreditorId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "First Prairie Finance"
                 *     }
                 */
                "application/json": components["schemas"]["NameWrite"];
            };
        };
        responses: {
            /** @description Registered. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replayDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayFilter"];
            };
        };
        responses: {
            /** @description The replay has begun. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "replayId": "0198c0de-0000-7000-8000-000000006001",
                     *       "state": "COUNTING",
                     *       "filter": {
                     *         "state": "DEAD",
                     *         "createdFrom": "2026-03-02T00:00:00.000Z",
                     *         "createdBefore": "2026-03-03T00:00:00.000Z"
                     *       },
                     *       "matched": 0,
                     *       "replayed": 0,
                     *       "skipped": 0,
                     *       "remaining": 0,
                     *       "requestedAt": "2026-03-03T09:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Replay"];
                };
            };
            /** @description The body is not acceptable, or no delivery can be in its time range. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description Your integration has no webhook destination. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Your destination is disabled or has a replay already, or a request with the same Idempotency-Key is still running. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReplay: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-000000006001 */
                replayId: components["parameters"]["ReplayId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description You have asked for no such replay. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelReplay: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating the request safe for 24 hours; see *Repeating a request safely*.
                 * @example 5b1f7c9e-0a64-4c52-8a51-4a7b7a0c7d10
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Your own name for this request, up to 200 visible ASCII characters. It is echoed in the answer and written to our logs and audit log, which outlive an erasure: put no personal data into it. Anything else is replaced by a new one.
                 * @example order-7781-attempt-1
                 */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /**
                 * @description W3C trace context; passed on. A malformed one is left out.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                traceparent?: components["parameters"]["TraceParent"];
            };
            path: {
                /** @example 0198c0de-0000-7000-8000-000000006001 */
                replayId: components["parameters"]["ReplayId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay, which has ended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "replayId": "0198c0de-0000-7000-8000-000000006001",
                     *       "state": "CANCELLED",
                     *       "filter": {
                     *         "state": "DEAD"
                     *       },
                     *       "matched": 4200,
                     *       "replayed": 1250,
                     *       "skipped": 3,
                     *       "remaining": 2947,
                     *       "requestedAt": "2026-03-03T09:00:00.000Z",
                     *       "finishedAt": "2026-03-03T09:00:13.106Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Replay"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description You have asked for no such replay. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["NotJson"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    integrationEnabled: {
        parameters: {
            query?: never;
            header: {
                /** @description Of integrationEnabled, in place of X-SERVICE-SIGNATURE, and made like it. */
                "X-INTEGRATION-SIGNATURE": string;
                /** @description The delivery's id, the same on every attempt; each destination has its own for the same event. Use it to pass over what you have already. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description Signature by Standard Webhooks 1.0.0, whose libraries verify it: `v1,` and base64 of the HMAC-SHA256 of `id.timestamp.body`; one for each live secret, separated by spaces. */
                "webhook-signature": string;
                /** @description 1, 2, 3 … for each application, creditor and destination; of integrationEnabled for each retailer and destination. */
                "webhook-sequence": string;
                /** @description `true` on a test event, whose body is the example. Check its signature, and do nothing else with it. */
                "webhook-test"?: "true";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "retailerName": "Harbour Motors",
                 *       "configJson": {
                 *         "dealerCode": "H-1047",
                 *         "locations": [
                 *           "MONTREAL",
                 *           "LAVAL"
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["IntegrationEnabledEvent"];
            };
        };
        responses: {
            /** @description The destination is gone; nothing more is sent to it until it is enabled again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other answer, a redirect included, is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    applicationBooked: {
        parameters: {
            query?: never;
            header: {
                /** @description Lower-case hex HMAC-SHA256 of the exact bytes of the body. The key is the 32 bytes whose base64 follows `whsec_` in the destination's secret. */
                "X-SERVICE-SIGNATURE": string;
                /** @description The delivery's id, the same on every attempt; each destination has its own for the same event. Use it to pass over what you have already. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description Signature by Standard Webhooks 1.0.0, whose libraries verify it: `v1,` and base64 of the HMAC-SHA256 of `id.timestamp.body`; one for each live secret, separated by spaces. */
                "webhook-signature": string;
                /** @description 1, 2, 3 … for each application, creditor and destination; of integrationEnabled for each retailer and destination. */
                "webhook-sequence": string;
                /** @description `true` on a test event, whose body is the example. Check its signature, and do nothing else with it. */
                "webhook-test"?: "true";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                 *       "status": "BOOKED"
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status?: "BOOKED";
                } & components["schemas"]["DecisionEvent"];
            };
        };
        responses: {
            /** @description The destination is gone; nothing more is sent to it until it is enabled again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other answer, a redirect included, is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    applicationApproved: {
        parameters: {
            query?: never;
            header: {
                /** @description Lower-case hex HMAC-SHA256 of the exact bytes of the body. The key is the 32 bytes whose base64 follows `whsec_` in the destination's secret. */
                "X-SERVICE-SIGNATURE": string;
                /** @description The delivery's id, the same on every attempt; each destination has its own for the same event. Use it to pass over what you have already. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description Signature by Standard Webhooks 1.0.0, whose libraries verify it: `v1,` and base64 of the HMAC-SHA256 of `id.timestamp.body`; one for each live secret, separated by spaces. */
                "webhook-signature": string;
                /** @description 1, 2, 3 … for each application, creditor and destination; of integrationEnabled for each retailer and destination. */
                "webhook-sequence": string;
                /** @description `true` on a test event, whose body is the example. Check its signature, and do nothing else with it. */
                "webhook-test"?: "true";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                 *       "firstPaymentDate": "2026-03-31",
                 *       "frequency": "BI-WEEKLY",
                 *       "interestRate": 6.99,
                 *       "approvedPayment": {
                 *         "amount": 412.55,
                 *         "currency": "CAD"
                 *       },
                 *       "rateReduction": 0.5,
                 *       "termStretch": 12,
                 *       "status": "APPROVED"
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status?: "APPROVED";
                } & components["schemas"]["OfferEvent"];
            };
        };
        responses: {
            /** @description The destination is gone; nothing more is sent to it until it is enabled again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other answer, a redirect included, is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    applicationConditionallyApproved: {
        parameters: {
            query?: never;
            header: {
                /** @description Lower-case hex HMAC-SHA256 of the exact bytes of the body. The key is the 32 bytes whose base64 follows `whsec_` in the destination's secret. */
                "X-SERVICE-SIGNATURE": string;
                /** @description The delivery's id, the same on every attempt; each destination has its own for the same event. Use it to pass over what you have already. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description Signature by Standard Webhooks 1.0.0, whose libraries verify it: `v1,` and base64 of the HMAC-SHA256 of `id.timestamp.body`; one for each live secret, separated by spaces. */
                "webhook-signature": string;
                /** @description 1, 2, 3 … for each application, creditor and destination; of integrationEnabled for each retailer and destination. */
                "webhook-sequence": string;
                /** @description `true` on a test event, whose body is the example. Check its signature, and do nothing else with it. */
                "webhook-test"?: "true";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                 *       "firstPaymentDate": "2026-03-31",
                 *       "frequency": "BI-WEEKLY",
                 *       "interestRate": 6.99,
                 *       "approvedPayment": {
                 *         "amount": 412.55,
                 *         "currency": "CAD"
                 *       },
                 *       "rateReduction": 0.5,
                 *       "termStretch": 12,
                 *       "status": "CONDITIONALLY_APPROVED",
                 *       "conditions": "Proof of income not older than 30 days."
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status?: "CONDITIONALLY_APPROVED";
                } & components["schemas"]["OfferEvent"];
            };
        };
        responses: {
            /** @description The destination is gone; nothing more is sent to it until it is enabled again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other answer, a redirect included, is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    documentsIncomplete: {
        parameters: {
            query?: never;
            header: {
                /** @description Lower-case hex HMAC-SHA256 of the exact bytes of the body. The key is the 32 bytes whose base64 follows `whsec_` in the destination's secret. */
                "X-SERVICE-SIGNATURE": string;
                /** @description The delivery's id, the same on every attempt; each destination has its own for the same event. Use it to pass over what you have already. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description Signature by Standard Webhooks 1.0.0, whose libraries verify it: `v1,` and base64 of the HMAC-SHA256 of `id.timestamp.body`; one for each live secret, separated by spaces. */
                "webhook-signature": string;
                /** @description 1, 2, 3 … for each application, creditor and destination; of integrationEnabled for each retailer and destination. */
                "webhook-sequence": string;
                /** @description `true` on a test event, whose body is the example. Check its signature, and do nothing else with it. */
                "webhook-test"?: "true";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                 *       "firstPaymentDate": "2026-03-31",
                 *       "frequency": "BI-WEEKLY",
                 *       "interestRate": 6.99,
                 *       "approvedPayment": {
                 *         "amount": 412.55,
                 *         "currency": "CAD"
                 *       },
                 *       "rateReduction": 0.5,
                 *       "termStretch": 12,
                 *       "status": "INCOMPLETE",
                 *       "conditions": "The pay stub is missing."
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status?: "INCOMPLETE";
                } & components["schemas"]["OfferEvent"];
            };
        };
        responses: {
            /** @description The destination is gone; nothing more is sent to it until it is enabled again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other answer, a redirect included, is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    awaitingDecision: {
        parameters: {
            query?: never;
            header: {
                /** @description Lower-case hex HMAC-SHA256 of the exact bytes of the body. The key is the 32 bytes whose base64 follows `whsec_` in the destination's secret. */
                "X-SERVICE-SIGNATURE": string;
                /** @description The delivery's id, the same on every attempt; each destination has its own for the same event. Use it to pass over what you have already. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description Signature by Standard Webhooks 1.0.0, whose libraries verify it: `v1,` and base64 of the HMAC-SHA256 of `id.timestamp.body`; one for each live secret, separated by spaces. */
                "webhook-signature": string;
                /** @description 1, 2, 3 … for each application, creditor and destination; of integrationEnabled for each retailer and destination. */
                "webhook-sequence": string;
                /** @description `true` on a test event, whose body is the example. Check its signature, and do nothing else with it. */
                "webhook-test"?: "true";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                 *       "status": "AWAITING_DECISION"
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status?: "AWAITING_DECISION";
                } & components["schemas"]["DecisionEvent"];
            };
        };
        responses: {
            /** @description The destination is gone; nothing more is sent to it until it is enabled again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other answer, a redirect included, is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    pendingBanking: {
        parameters: {
            query?: never;
            header: {
                /** @description Lower-case hex HMAC-SHA256 of the exact bytes of the body. The key is the 32 bytes whose base64 follows `whsec_` in the destination's secret. */
                "X-SERVICE-SIGNATURE": string;
                /** @description The delivery's id, the same on every attempt; each destination has its own for the same event. Use it to pass over what you have already. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description Signature by Standard Webhooks 1.0.0, whose libraries verify it: `v1,` and base64 of the HMAC-SHA256 of `id.timestamp.body`; one for each live secret, separated by spaces. */
                "webhook-signature": string;
                /** @description 1, 2, 3 … for each application, creditor and destination; of integrationEnabled for each retailer and destination. */
                "webhook-sequence": string;
                /** @description `true` on a test event, whose body is the example. Check its signature, and do nothing else with it. */
                "webhook-test"?: "true";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                 *       "status": "PENDING_BANK_CONNECTION"
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status?: "PENDING_BANK_CONNECTION";
                } & components["schemas"]["DecisionEvent"];
            };
        };
        responses: {
            /** @description The destination is gone; nothing more is sent to it until it is enabled again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other answer, a redirect included, is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    applicationDeclined: {
        parameters: {
            query?: never;
            header: {
                /** @description Lower-case hex HMAC-SHA256 of the exact bytes of the body. The key is the 32 bytes whose base64 follows `whsec_` in the destination's secret. */
                "X-SERVICE-SIGNATURE": string;
                /** @description The delivery's id, the same on every attempt; each destination has its own for the same event. Use it to pass over what you have already. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description Signature by Standard Webhooks 1.0.0, whose libraries verify it: `v1,` and base64 of the HMAC-SHA256 of `id.timestamp.body`; one for each live secret, separated by spaces. */
                "webhook-signature": string;
                /** @description 1, 2, 3 … for each application, creditor and destination; of integrationEnabled for each retailer and destination. */
                "webhook-sequence": string;
                /** @description `true` on a test event, whose body is the example. Check its signature, and do nothing else with it. */
                "webhook-test"?: "true";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                 *       "status": "DECLINED",
                 *       "conditions": "Insufficient income."
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status?: "DECLINED";
                } & components["schemas"]["DecisionEvent"];
            };
        };
        responses: {
            /** @description The destination is gone; nothing more is sent to it until it is enabled again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other answer, a redirect included, is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    applicationExported: {
        parameters: {
            query?: never;
            header: {
                /** @description Lower-case hex HMAC-SHA256 of the exact bytes of the body. The key is the 32 bytes whose base64 follows `whsec_` in the destination's secret. */
                "X-SERVICE-SIGNATURE": string;
                /** @description The delivery's id, the same on every attempt; each destination has its own for the same event. Use it to pass over what you have already. */
                "webhook-id": string;
                /** @description When this attempt was made, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description Signature by Standard Webhooks 1.0.0, whose libraries verify it: `v1,` and base64 of the HMAC-SHA256 of `id.timestamp.body`; one for each live secret, separated by spaces. */
                "webhook-signature": string;
                /** @description 1, 2, 3 … for each application, creditor and destination; of integrationEnabled for each retailer and destination. */
                "webhook-sequence": string;
                /** @description `true` on a test event, whose body is the example. Check its signature, and do nothing else with it. */
                "webhook-test"?: "true";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "retailerId": "0198c0de-0000-7000-8000-00000000a001",
                 *       "applicationId": "0198c0de-0000-7000-8000-00000000b001",
                 *       "creditorId": "0198c0de-0000-7000-8000-00000000c001",
                 *       "primaryApplicant": {
                 *         "firstName": "Maya",
                 *         "lastName": "Tremblay",
                 *         "sin": "046454286",
                 *         "dateOfBirth": "1988-07-14",
                 *         "phoneNumber": "+15145550143",
                 *         "email": "maya.tremblay@example.com",
                 *         "addressHistory": [
                 *           {
                 *             "addressType": "CURRENT",
                 *             "apartmentSuite": "4",
                 *             "city": "Montreal",
                 *             "direction": "W",
                 *             "id": "0198c0de-0000-7000-8000-0000000ad001",
                 *             "monthlyRentOrMortgage": {
                 *               "amount": 1450,
                 *               "currency": "CAD"
                 *             },
                 *             "monthsAtAddress": 2,
                 *             "pOBoxNumber": "118",
                 *             "postalCode": "H3G 1H9",
                 *             "province": "QC",
                 *             "residenceType": "RENT",
                 *             "searchAddress": "1280 Sherbrooke Street W, Montreal QC",
                 *             "streetName": "Sherbrooke",
                 *             "streetNo": "1280",
                 *             "streetType": "Street",
                 *             "yearsAtAddress": 3
                 *           }
                 *         ],
                 *         "employmentHistory": [
                 *           {
                 *             "additionalIncomeSources": [
                 *               "CAR_ALLOWANCE",
                 *               "RENTAL_INCOME"
                 *             ],
                 *             "apartmentSuite": "200",
                 *             "city": "Montreal",
                 *             "direction": "E",
                 *             "employerName": "Northern Lights Bakery",
                 *             "employmentPhone": "+15145550100",
                 *             "frequency": "BI_WEEKLY",
                 *             "grossIncome": {
                 *               "amount": 2100,
                 *               "currency": "CAD"
                 *             },
                 *             "id": "0198c0de-0000-7000-8000-0000000ec001",
                 *             "monthsWorked": 4,
                 *             "occupation": "Baker",
                 *             "postalCode": "H2X 2T6",
                 *             "province": "QC",
                 *             "status": "FULL_TIME",
                 *             "streetName": "Ontario",
                 *             "streetNo": "35",
                 *             "streetType": "Street",
                 *             "type": "TRADES",
                 *             "yearsWorked": 5
                 *           }
                 *         ]
                 *       },
                 *       "coApplicant": {
                 *         "firstName": "Luc",
                 *         "lastName": "Tremblay",
                 *         "sin": "130692544",
                 *         "dateOfBirth": "1986-02-03",
                 *         "phoneNumber": "+15145550144",
                 *         "email": "luc.tremblay@example.com",
                 *         "addressHistory": [],
                 *         "employmentHistory": []
                 *       },
                 *       "relationship": "SPOUSE",
                 *       "worksheet": {
                 *         "programId": "0198c0de-0000-7000-8000-0000000ab001",
                 *         "tierId": "0198c0de-0000-7000-8000-0000000ab002",
                 *         "vehicle": {
                 *           "id": "0198c0de-0000-7000-8000-0000000fe001",
                 *           "vin": "1HGBH41JXMN109186",
                 *           "status": "USED",
                 *           "msrp": {
                 *             "amount": 31400,
                 *             "currency": "CAD"
                 *           },
                 *           "adjustedMsrp": 30900,
                 *           "odometer": {
                 *             "amount": 18250,
                 *             "unit": "KM"
                 *           },
                 *           "uvc": "2024380115",
                 *           "year": 2024,
                 *           "make": "Honda",
                 *           "model": "Civic",
                 *           "trim": "Touring",
                 *           "series": "FE1",
                 *           "style": "4D Sedan",
                 *           "colour": "Blue",
                 *           "carfaxClaims": "none reported",
                 *           "addOnOptions": [
                 *             {
                 *               "auto": true,
                 *               "averageValue": {
                 *                 "amount": 300,
                 *                 "currency": "CAD"
                 *               },
                 *               "cleanValue": {
                 *                 "amount": 350,
                 *                 "currency": "CAD"
                 *               },
                 *               "extraCleanValue": {
                 *                 "amount": 400,
                 *                 "currency": "CAD"
                 *               },
                 *               "id": "0198c0de-0000-7000-8000-0000000fd001",
                 *               "name": "Navigation",
                 *               "roughValue": {
                 *                 "amount": 200,
                 *                 "currency": "CAD"
                 *               }
                 *             }
                 *           ],
                 *           "deductOptions": [
                 *             {
                 *               "auto": true,
                 *               "averageValue": {
                 *                 "amount": 300,
                 *                 "currency": "CAD"
                 *               },
                 *               "cleanValue": {
                 *                 "amount": 350,
                 *                 "currency": "CAD"
                 *               },
                 *               "extraCleanValue": {
                 *                 "amount": 400,
                 *                 "currency": "CAD"
                 *               },
                 *               "id": "0198c0de-0000-7000-8000-0000000fd002",
                 *               "name": "No sunroof",
                 *               "roughValue": {
                 *                 "amount": 200,
                 *                 "currency": "CAD"
                 *               }
                 *             }
                 *           ],
                 *           "addOns": [
                 *             "Winter tires"
                 *           ],
                 *           "deducts": [
                 *             "Second key missing"
                 *           ]
                 *         },
                 *         "extraCleanWholesaleValue": {
                 *           "amount": 26400,
                 *           "currency": "CAD"
                 *         },
                 *         "cleanWholesaleValue": {
                 *           "amount": 25300,
                 *           "currency": "CAD"
                 *         },
                 *         "averageWholesaleValue": {
                 *           "amount": 23900,
                 *           "currency": "CAD"
                 *         },
                 *         "roughWholesaleValue": {
                 *           "amount": 21700,
                 *           "currency": "CAD"
                 *         },
                 *         "drivingDistancePerYear": 18000,
                 *         "isZeroEmissionVehicle": false,
                 *         "taxExempt": false,
                 *         "gstPercent": 5,
                 *         "gst": {
                 *           "amount": 1449.75,
                 *           "currency": "CAD"
                 *         },
                 *         "gstAdjusted": false,
                 *         "pstHstPercent": 9.975,
                 *         "pstHst": {
                 *           "amount": 2892.25,
                 *           "currency": "CAD"
                 *         },
                 *         "pstHstAdjusted": true,
                 *         "salePrice": {
                 *           "amount": 28995,
                 *           "currency": "CAD"
                 *         },
                 *         "cashDown": {
                 *           "amount": 2000,
                 *           "currency": "CAD"
                 *         },
                 *         "rebate": {
                 *           "amount": 500,
                 *           "currency": "CAD"
                 *         },
                 *         "registrationFee": {
                 *           "amount": 74.5,
                 *           "currency": "CAD"
                 *         },
                 *         "creditorFee": {
                 *           "amount": 350,
                 *           "currency": "CAD"
                 *         },
                 *         "dealerReserve": {
                 *           "amount": 600,
                 *           "currency": "CAD"
                 *         },
                 *         "totalFinancedAmount": {
                 *           "amount": 31261.5,
                 *           "currency": "CAD"
                 *         },
                 *         "worksheetPayment": {
                 *           "amount": 288.41,
                 *           "currency": "CAD"
                 *         },
                 *         "tradeIn": "2016 Mazda 3",
                 *         "dealerAdminFee": "499.00",
                 *         "gpsFee": "149.00",
                 *         "licenseFee": "60.00",
                 *         "installationDeliveryFee": "95.00",
                 *         "ahInsuranceFee": "410.00",
                 *         "lifeInsuranceFee": "380.00",
                 *         "gapInsurance": "650.00",
                 *         "extServiceContract": "1299.00",
                 *         "firstPaymentDate": "2026-03-31",
                 *         "deliveryDate": "2026-03-15",
                 *         "interestRate": 7.49,
                 *         "term": 60,
                 *         "frequency": "BI_WEEKLY"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ExportedApplication"];
            };
        };
        responses: {
            /** @description The destination is gone; nothing more is sent to it until it is enabled again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other answer, a redirect included, is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
