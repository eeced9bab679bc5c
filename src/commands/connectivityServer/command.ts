import { levelOf } from '../../options/glogFlags.ts';
import type { FlagProblem } from '../../options/flagTable.ts';
import { defineCommand, type Command } from '../command.ts';
import { CONNECTIVITY_SERVER_FLAGS, type ConnectivityServerFlags } from './flags.ts';
import { runConnectivityServer } from './server.ts';

/** `connectivity-server`: collects the reports of the connectivity agents. */
export const connectivityServer: Command = defineCommand<typeof CONNECTIVITY_SERVER_FLAGS>({
  name: 'connectivity-server',
  flags: CONNECTIVITY_SERVER_FLAGS,
  logLevel: levelOf,
  check: storeProblem,
  run: runConnectivityServer,
});

/** The original uses etcd unless it is told otherwise. Whoever names an etcd does not expect other storage. */
function storeProblem({
  etcdEndpoints = '',
  kubeproxyinit,
}: ConnectivityServerFlags): FlagProblem<keyof ConnectivityServerFlags> | undefined {
  if (etcdEndpoints === '' || kubeproxyinit) return undefined;
  const message = 'etcd is not available in this version; must be absent, and reports are stored as Agent objects';
  return { key: 'etcdEndpoints', message };
}
