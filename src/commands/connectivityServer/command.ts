import { levelOf } from '../../options/glogFlags.ts';
import { defineCommand, type Command } from '../command.ts';
import { CONNECTIVITY_SERVER_FLAGS } from './flags.ts';
import { runConnectivityServer } from './server.ts';

/** `connectivity-server`: collects the reports of the connectivity agents. */
export const connectivityServer: Command = defineCommand<typeof CONNECTIVITY_SERVER_FLAGS>({
  name: 'connectivity-server',
  flags: CONNECTIVITY_SERVER_FLAGS,
  logLevel: levelOf,
  run: runConnectivityServer,
});
