import { levelOf } from '../../options/glogFlags.ts';
import { defineCommand, type Command } from '../command.ts';
import { CONNECTIVITY_SERVER_FLAGS } from './flags.ts';
import { runConnectivityServer } from './server.ts';
import { storeChoice } from './storeChoice.ts';

/** `connectivity-server`: collects the reports of the connectivity agents. */
export const connectivityServer: Command = defineCommand<typeof CONNECTIVITY_SERVER_FLAGS>({
  name: 'connectivity-server',
  flags: CONNECTIVITY_SERVER_FLAGS,
  logLevel: levelOf,
  check(flags) {
    // Throws for flags that do not fit together, before the process says that it starts.
    storeChoice(flags);
    return undefined;
  },
  run: runConnectivityServer,
});
