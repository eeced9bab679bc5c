import { levelOf } from '../../options/glogFlags.ts';
import { UsageError } from '../../runtime/process/usageError.ts';
import { defineCommand, type Command } from '../command.ts';
import { CONNECTIVITY_SERVER_FLAGS, type ConnectivityServerFlags } from './flags.ts';
import { runConnectivityServer } from './server.ts';

/** `connectivity-server`: collects the reports of the connectivity agents. */
export const connectivityServer: Command = defineCommand<typeof CONNECTIVITY_SERVER_FLAGS>({
  name: 'connectivity-server',
  flags: CONNECTIVITY_SERVER_FLAGS,
  logLevel: levelOf,
  run(flags, context) {
    checkStore(flags);
    return runConnectivityServer(flags, context);
  },
});

/** The original uses etcd unless it is told otherwise. Whoever names an etcd does not expect other storage. */
function checkStore({ etcdEndpoints, kubeproxyinit }: ConnectivityServerFlags): void {
  if (etcdEndpoints !== undefined && etcdEndpoints !== '' && !kubeproxyinit) {
    throw new UsageError(
      `--etcd-endpoints=${etcdEndpoints}: etcd is not available in this version; must be absent, ` +
        'and reports are stored as Agent objects',
    );
  }
}
