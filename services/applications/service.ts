/** The manifest of the applications service. */
import { defineService } from '@creditlane/service/define-service';
import { startApplications } from './app.ts';
import { applications1763700000000 } from './migrations/0001-applications.ts';
import { applicationsByRetailer1764200000000 } from './migrations/0002-applications-by-retailer.ts';
import { exports1764500000000 } from './migrations/0003-exports.ts';
import { rowSecurity1764600000000 } from './migrations/0004-row-security.ts';
import { exportRecords1764700000000 } from './migrations/0005-export-records.ts';
import { exportsWithPayload1764800000000 } from './migrations/0006-exports-with-payload.ts';
import { consentTerms1764900000000 } from './migrations/0007-consent-terms.ts';
import { erasedApplicants1764950000000 } from './migrations/0008-erased-applicants.ts';
import { exportsOfApplication1764960000000 } from './migrations/0009-exports-of-application.ts';
import { applicantKeys1765000000000 } from './migrations/0010-applicant-keys.ts';
import { answersByAge } from './migrations/0011-answers-by-age.ts';
import { outboxByDay } from './migrations/0012-outbox-by-day.ts';
import { applicationsByStatus1765600000000 } from './migrations/0013-applications-by-status.ts';
import { createdApplications1766200000000 } from './migrations/0014-created-applications.ts';
import { platformActs1766500000000 } from './migrations/0015-platform-acts.ts';
import { SETTINGS } from './settings.ts';
import { TABLES } from './tables.ts';

export const applications = defineService(
  {
    name: 'applications',
    about:
      'Retailers, creditors, users, applications with applicants, consents, submissions, and exports.',
    serves: 'calls',
    database: {
      name: 'creditlane_applications',
      entities: TABLES,
      migrations: [
        applications1763700000000,
        applicationsByRetailer1764200000000,
        exports1764500000000,
        rowSecurity1764600000000,
        exportRecords1764700000000,
        exportsWithPayload1764800000000,
        consentTerms1764900000000,
        erasedApplicants1764950000000,
        exportsOfApplication1764960000000,
        applicantKeys1765000000000,
        ...answersByAge,
        ...outboxByDay,
        applicationsByStatus1765600000000,
        createdApplications1766200000000,
        platformActs1766500000000,
      ],
      keptTables: ['platform_acts'],
      lockTimeout: true,
    },
    publishes: ['creditlane.applications.v1'],
    settings: SETTINGS,
  },
  startApplications,
);
