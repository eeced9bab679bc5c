import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import type { ControllerModule } from '../../controllers/contract/module.ts';
import { whyNotRemoved } from './removal.ts';
import { whileStopped } from './whileStopped.ts';
import { LEASE_NAME, WEIGHTS_LEASE_NAME } from '../lease.ts';
import type { CommandContext } from '../command.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import type { CleanupFlags } from './flags.ts';
import { createClient, leaderOnly, type Client } from '../../runtime/client/client.ts';
import { getIfExists } from '../../runtime/client/getIfExists.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { LeaderElector } from '../../runtime/leaderElection/leaderElection.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { DEPLOYMENTS, JOBS, LEASES } from '../../runtime/client/resources.ts';
import { createTransport, type Transport } from '../../runtime/client/transport.ts';

const NOT_REMOVED =
  'nothing is cleaned up: helm does not remove the release. Render the chart with cleanup.enabled=false or --no-hooks; ' +
  'to remove the operator, run the clean-up of deploy/cleanup';

/**
 * `cleanup`: removes everything that the operator put on nodes and TrafficWatches, and its own Prometheus and
 * exporters. Runs before the uninstall.
 *
 * 1. Stops the operator: scales its Deployment to 0, and the one for DNS weights.
 * 2. Takes the Lease, so that no other replica can write.
 * 3. Removes what each controller left, in reverse order of the controllers.
 * 4. Deletes the Leases.
 *
 * With --helm-release it does nothing unless helm removes that release.
 *
 * If a step fails, it starts the operator again. Helm then keeps the release, and a second uninstall retries. It also
 * works if the operator and its namespace are already gone.
 *
 * @throws ApiError, TransportError, NotLeaderError if something could not be removed
 */
export async function runCleanup(
  flags: CleanupFlags,
  controllers: readonly ControllerModule[],
  { logger, signal }: CommandContext,
): Promise<void> {
  const { namespace, deployment, weightsDeployment } = flags;
  const transport = createTransport({ kubeConfig: loadKubeConfig(flags.kubeconfig), logger });
  try {
    const client = createClient(transport);
    const reason = await reasonToSkip(client, flags);
    if (reason !== undefined) {
      logger.warn({ reason }, NOT_REMOVED);
      return;
    }
    const parts = { client, clock: systemClock, logger, signal };
    const cleanUp = () =>
      whileStopped(parts, { namespace, name: deployment }, async () => {
        await asLeader({ transport, namespace, logger, signal }, async (leading) => {
          for (const controller of controllers.toReversed()) {
            await controller.cleanUp({ ...parts, client: leading, namespace });
          }
        });
        await client.delete(LEASES, { namespace, name: LEASE_NAME });
      });
    if (weightsDeployment === undefined) {
      await cleanUp();
      return;
    }
    await whileStopped(parts, { namespace, name: weightsDeployment }, async () => {
      await cleanUp();
      await client.delete(LEASES, { namespace, name: WEIGHTS_LEASE_NAME });
    });
  } finally {
    await transport.close();
  }
}

async function reasonToSkip(
  client: Client,
  { namespace, deployment, helmRelease, job }: CleanupFlags,
): Promise<string | undefined> {
  if (helmRelease === undefined) return undefined;
  return whyNotRemoved(helmRelease, {
    deployment: await getIfExists(client, DEPLOYMENTS, { namespace, name: deployment }),
    job: await getIfExists(client, JOBS, { namespace, name: job }),
  });
}

interface Lead {
  transport: Transport;
  namespace: string;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Runs the work while holding the Lease. If the namespace of the Lease is gone, nobody can lead: runs it without one.
 */
async function asLeader(
  { transport, namespace, logger, signal }: Lead,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const elected = Promise.withResolvers<Client>();
  const client = createClient(transport);
  const elector = new LeaderElector({
    transport,
    identity: `${hostname()}_${randomUUID()}`,
    namespace,
    name: LEASE_NAME,
    logger,
    onStartedLeading: () => elected.resolve(leaderOnly(client, elector)),
    onStoppedLeading: () => undefined,
    onVacant: () => elected.resolve(client),
  });
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  either.addEventListener('abort', () => elected.reject(either.reason));
  const running = elector.run(either);
  try {
    const mayWrite = await elected.promise;
    if (mayWrite === client)
      logger.info({ namespace }, 'the namespace of the operator is gone: cleaning up without a Lease');
    await work(mayWrite);
  } finally {
    done.abort();
    await running;
  }
}
