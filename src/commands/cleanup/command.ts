import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import { COMMON_FLAGS } from '../../options/commonFlags.ts';
import { flag, withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { dnsLabel, dnsSubdomain } from '../../options/values.ts';
import type { ControllerModule } from '../../controllers/contract/module.ts';
import { CONTROLLERS } from '../../controllers/registry.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { whileStopped } from './whileStopped.ts';
import { LEASE_NAME, WEIGHTS_LEASE_NAME } from '../election.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { createClient, leaderOnly, type Client, getIfExists } from '../../runtime/client/client.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { LeaderElector } from '../../runtime/leaderElection/leaderElection.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { DEPLOYMENTS, JOBS, LEASES } from '../../runtime/client/resources.ts';
import { createTransport, type Transport } from '../../runtime/client/transport.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';

/** The flags of `cleanup`. */
const CLEANUP_FLAGS = {
  ...COMMON_FLAGS,
  deployment: withDefault(
    dnsLabel,
    'traffic-operator',
    'Name of the operator’s Deployment. The clean-up stops it first.',
  ),
  weightsDeployment: flag(
    dnsLabel,
    'Name of the Deployment for DNS weights, which is also stopped. Its Lease is deleted; the DNS records are unchanged.',
    { defaultNote: 'none' },
  ),
  helmRelease: flag(
    dnsSubdomain,
    'Do nothing unless helm removes the release of this name: rendered manifests may have been applied without helm.',
    { defaultNote: 'none; the clean-up always runs' },
  ),
  job: withDefault(
    dnsSubdomain,
    'traffic-operator-cleanup',
    'With --helm-release, the name of the Job that runs the clean-up.',
  ),
} as const satisfies FlagTable;

type CleanupFlags = FlagValues<typeof CLEANUP_FLAGS>;

/** `cleanup`: removes everything that the operator put on the cluster. */
export const cleanup = cleanupOf(CONTROLLERS);

/** Creates `cleanup` for the given controllers. */
export function cleanupOf(controllers: readonly ControllerModule[]): Command {
  return defineCommand<typeof CLEANUP_FLAGS>({
    name: 'cleanup',
    flags: CLEANUP_FLAGS,
    run: (flags, context) => runCleanup(flags, controllers, context),
  });
}

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
async function runCleanup(
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

/** Helm writes it on what it installs, and not on what `helm template` renders. */
const RELEASE_ANNOTATION = 'meta.helm.sh/release-name';
/** kubectl writes it on what it applies from the client's side. */
const APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
/** Field managers of programs that apply rendered manifests. They do not know what a hook of helm is. */
const APPLIERS = /^(kubectl|kustomize|argocd|flux)/;

/** The objects of a release when its clean-up begins. Undefined: the object does not exist. */
export interface Found {
  /** The Deployment of the operator. */
  readonly deployment: KubeObject | undefined;
  /** The Job that runs the clean-up. */
  readonly job: KubeObject | undefined;
}

/**
 * Why helm does not remove the release, for users; undefined if helm removes it. The hooks of a chart are in the output of
 * `helm template` too, and whoever applies that output starts the Job of the clean-up together with the operator.
 *
 * @param release name of the release of helm
 */
export function whyNotRemoved(release: string, { deployment, job }: Found): string | undefined {
  const applier = job && applierOf(job);
  if (applier !== undefined) return `the Job was applied by ${applier}, not by helm`;
  const owner = deployment?.metadata?.annotations?.[RELEASE_ANNOTATION];
  if (deployment === undefined || owner === release) return undefined;
  const name = `the Deployment ${deployment.metadata?.namespace ?? ''}/${deployment.metadata?.name ?? ''}`;
  return owner === undefined
    ? `${name} was not installed by helm`
    : `${name} belongs to the release ${owner} of helm, not to ${release}`;
}

function applierOf({ metadata }: KubeObject): string | undefined {
  const manager = metadata?.managedFields?.find((entry) => APPLIERS.test(entry.manager ?? ''))?.manager;
  return manager ?? (metadata?.annotations?.[APPLIED_ANNOTATION] === undefined ? undefined : 'kubectl');
}
