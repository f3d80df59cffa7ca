/** The manifest of the gateway. */
import { defineService } from '@creditlane/service/define-service';
import { startGateway } from './app.ts';
import { PEERS } from './peers.ts';
import { SETTINGS } from './settings.ts';

export const gateway = defineService(
  {
    name: 'gateway',
    about: 'The REST interface: keys become identities, and HTTP requests become calls.',
    serves: 'http',
    calls: PEERS,
    settings: SETTINGS,
  },
  startGateway,
);
