/** The manifest of the conversations service. */
import { defineService } from '@creditlane/service/define-service';
import { startConversations } from './app.ts';
import { conversations1764100000000 } from './migrations/0001-conversations.ts';
import { rowSecurity1764600000000 } from './migrations/0002-row-security.ts';
import { answersByAge } from './migrations/0003-answers-by-age.ts';
import { sentComments1766200000000 } from './migrations/0004-sent-comments.ts';
import { SETTINGS } from './settings.ts';
import { TABLES } from './tables.ts';

export const conversations = defineService(
  {
    name: 'conversations',
    about: 'The comments of the retailer and of the creditor on each submission.',
    serves: 'calls',
    database: {
      name: 'creditlane_conversations',
      entities: TABLES,
      migrations: [
        conversations1764100000000,
        rowSecurity1764600000000,
        ...answersByAge,
        sentComments1766200000000,
      ],
      // A comment holds a connection for a few milliseconds and never during a call to another service.
      poolSize: { default: 5, min: 2 },
      lockTimeout: true,
    },
    calls: ['applications'],
    settings: SETTINGS,
  },
  startConversations,
);
