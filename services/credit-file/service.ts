/** The manifest of the credit-file service. */
import { defineService } from '@creditlane/service/define-service';
import { startCreditFile } from './app.ts';
import { creditFiles1764700000000 } from './migrations/0001-credit-files.ts';
import { applicantKeys1764910000000 } from './migrations/0010-applicant-keys.ts';
import { auditLog1764920000000 } from './migrations/0011-audit-log.ts';
import { fileRetention1764930000000 } from './migrations/0012-file-retention.ts';
import { applicantErasures1764940000000 } from './migrations/0013-applicant-erasures.ts';
import { pullTraces1764970000000 } from './migrations/0014-pull-traces.ts';
import { erasureAttempts1764980000000 } from './migrations/0015-erasure-attempts.ts';
import { dueErasures1764990000000 } from './migrations/0016-due-erasures.ts';
import { answersByAge } from './migrations/0017-answers-by-age.ts';
import { joinedRequests1765900000000 } from './migrations/0018-joined-requests.ts';
import { bureauCodes1766000000000 } from './migrations/0019-bureau-codes.ts';
import { retailerContexts1766100000000 } from './migrations/0020-retailer-contexts.ts';
import { documentOpenings1766200000000 } from './migrations/0021-document-openings.ts';
import { forcedPulls1766300000000 } from './migrations/0022-forced-pulls.ts';
import { documentLinks1766500000000 } from './migrations/0024-document-links.ts';
import { SETTINGS } from './settings.ts';
import { TABLES } from './tables.ts';

export const creditFile = defineService(
  {
    name: 'credit-file',
    about: 'Credit files that retailers pull from the bureaus, kept encrypted.',
    serves: 'calls',
    database: {
      name: 'creditlane_credit_files',
      entities: TABLES,
      migrations: [
        creditFiles1764700000000,
        applicantKeys1764910000000,
        auditLog1764920000000,
        fileRetention1764930000000,
        applicantErasures1764940000000,
        pullTraces1764970000000,
        erasureAttempts1764980000000,
        dueErasures1764990000000,
        ...answersByAge,
        joinedRequests1765900000000,
        bureauCodes1766000000000,
        retailerContexts1766100000000,
        documentOpenings1766200000000,
        forcedPulls1766300000000,
        documentLinks1766500000000,
      ],
      keptTables: ['audit_records', 'audit_heads'],
      // No request and no pull holds a connection while it waits for a bureau or for another service.
      poolSize: { default: 5, min: 2 },
      lockTimeout: true,
    },
    calls: ['applications'],
    egressPorts: 'BUREAU_PORTS',
    settings: SETTINGS,
  },
  startCreditFile,
);
