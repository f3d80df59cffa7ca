/** The platform's operations on the retailers' credentials at the bureaus. */
import {
  type BureauCredentialsService,
  EquifaxCredentialsSchema,
  StoredBureauCredentialsSchema,
  TransUnionCredentialsSchema,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import type { Client } from '@creditlane/rpc/client';
import { notFound } from '@creditlane/rpc/fault';
import { defineHandlers } from '../handlers.ts';
import { messageReader, messageWriter } from '../service-messages/json-message.ts';
import { renameRefusedFields } from '../service-messages/service-answers.ts';

const readEquifax = messageReader(EquifaxCredentialsSchema);
const readTransUnion = messageReader(TransUnionCredentialsSchema);
const writeCredentials = messageWriter(StoredBureauCredentialsSchema);

export function bureauCredentialOperations(credentials: Client<typeof BureauCredentialsService>) {
  return defineHandlers({
    async setEquifaxCredentials({ path, body, context }) {
      const value = readEquifax(body);
      const request = { ...path, credentials: { case: 'equifax', value } } as const;
      const call = credentials.setBureauCredentials(request, context);
      await renameRefusedFields(call, [{ from: '/equifax', to: '' }]);
    },

    async setTransUnionCredentials({ path, body, context }) {
      const value = readTransUnion(body);
      const request = { ...path, credentials: { case: 'transunion', value } } as const;
      const call = credentials.setBureauCredentials(request, context);
      await renameRefusedFields(call, [{ from: '/transunion', to: '' }]);
    },

    async getBureauCredentials({ path: { retailerId, source }, context }) {
      const request = { retailerId, source: Source[source] };
      const { credentials: all } = await credentials.listBureauCredentials(request, context);
      // A credit-file service of an earlier version answers with those of both bureaus.
      const found = all.find((it) => it.source === request.source);
      if (found === undefined) {
        const message = 'The retailer has no credentials for this bureau.';
        throw notFound('bureau_credentials_not_found', message);
      }
      return writeCredentials(found);
    },

    async removeBureauCredentials({ path: { retailerId, source }, context }) {
      await credentials.removeBureauCredentials({ retailerId, source: Source[source] }, context);
    },
  });
}
