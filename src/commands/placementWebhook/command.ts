import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { isIPv4 } from 'node:net';
import { POD_PLACEMENT_NAME, POD_PLACEMENTS, type PodPlacement } from '../../api/podplacement/schema.ts';
import { SYSTEM_NAMESPACE } from '../../api/podplacement/webhook.ts';
import { APPLY_CRD } from '../../api/crd.ts';
import { prepare, type PreparedPlacement } from '../../placement/podTerms.ts';
import type { WebhookAddress } from '../../placement/webhook/configuration.ts';
import { ConfigurationKeeper } from '../../placement/webhook/configurationKeeper.ts';
import { WEBHOOK_LIMITS, webhookHandler } from '../../placement/webhook/handler.ts';
import { createWebhookMetrics } from '../../placement/webhook/metrics.ts';
import { createInformer, logMissingCrd, withoutManagedFields, type Informer } from '../../runtime/cache/informer.ts';
import { createClient } from '../../runtime/client/client.ts';
import { createTransport } from '../../runtime/client/transport.ts';
import { cachePart, Manager, readyWithoutCrd } from '../../runtime/manager/manager.ts';
import { createMetrics, createRegistry } from '../../runtime/manager/metrics.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { UsageError } from '../../runtime/process/usageError.ts';
import { serverPart } from '../../runtime/server/httpListener.ts';
import { createHttpsListener } from '../../runtime/server/httpServer.ts';
import { selfSigned } from '../../runtime/server/selfSigned.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { podNameOf } from '../election.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { prepareLongRun } from '../longRunning.ts';
import { createServers, metricsServerOf } from '../servers.ts';
import { NAME, PLACEMENT_WEBHOOK_FLAGS, placementWebhookProblem, type PlacementWebhookFlags } from './flags.ts';

/** `placement-webhook`: gives new pods their node affinity where the API server serves no MutatingAdmissionPolicy. */
export const placementWebhook: Command = defineCommand<typeof PLACEMENT_WEBHOOK_FLAGS>({
  name: 'placement-webhook',
  flags: PLACEMENT_WEBHOOK_FLAGS,
  check: placementWebhookProblem,
  run: runPlacementWebhook,
});

/**
 * Runs the webhook until the signal is aborted.
 *
 * @throws UsageError if the kubeconfig or the CA file cannot be used; Error if an address cannot be bound
 */
async function runPlacementWebhook(flags: PlacementWebhookFlags, context: CommandContext): Promise<void> {
  const { env, logger, signal } = context;
  prepareLongRun(logger);
  const registry = createRegistry();
  const metrics = createMetrics(registry);
  const webhookMetrics = createWebhookMetrics(registry);
  const transport = createTransport({
    kubeConfig: loadKubeConfig(flags.kubeconfig),
    logger,
    metrics: metrics.transport,
  });
  const placements = createPlacementInformer({ transport, logger, metrics: metrics.reflector });
  const byNamespace = new Map<string, PreparedPlacement>();
  const client = createClient(transport);
  const clientCa = await readClientCa(flags.clientCaFile);
  const keeper: ConfigurationKeeper = new ConfigurationKeeper({
    ...{ client, clock: systemClock, logger },
    name: flags.configuration,
    address: addressOf(flags),
    excluded: [SYSTEM_NAMESPACE, flags.namespace],
    namespaces: () => (placements.synced ? [...byNamespace.keys()] : undefined),
    createCertificate: (validity) => selfSigned({ ...namesOf(flags), ...validity, commonName: commonNameOf(env) }),
    renew: (certificate) => server.renew(certificate),
  });
  const server = createHttpsListener(
    {
      name: 'placement webhook',
      address: flags.webhookBindAddress,
      handler: webhookHandler({
        placementOf: (namespace) => byNamespace.get(namespace),
        metrics: webhookMetrics,
        clock: systemClock,
        logger,
      }),
      metrics: webhookMetrics.of(metrics.http),
      logger,
      limits: WEBHOOK_LIMITS,
    },
    { ...keeper.certificate, http2: false, clientCa },
  );
  placements.subscribe((event) => {
    if (follow(byNamespace, event)) keeper.changed();
  });
  const manager = new Manager(logger);
  const servers = { healthAddress: flags.healthProbeBindAddress, metricsServer: metricsServerOf(flags) };
  manager.add(
    ...(await createServers({ ...servers, metrics, logger }, manager, client)),
    serverPart(server.listener),
    readyWithoutCrd(cachePart(placements), placements),
    {
      name: 'webhook configuration',
      stage: 'work',
      run: (stop) => keeper.run(stop),
      notReady: () => keeper.problem(),
    },
  );
  try {
    await manager.run(signal);
  } finally {
    await transport.close();
  }
}

type InformerParts = Pick<Parameters<typeof createInformer<PodPlacement>>[0], 'transport' | 'logger' | 'metrics'>;

/** Each PodPlacement has at most 1 MiB, so pages are small. */
function createPlacementInformer(parts: InformerParts): Informer<PodPlacement> {
  const resource = POD_PLACEMENTS;
  return createInformer({
    ...parts,
    resource,
    fieldSelector: `metadata.name=${POD_PLACEMENT_NAME}`,
    transform: withoutManagedFields,
    pageSize: 50,
    onRefusal: logMissingCrd({ resource, logger: parts.logger, waiting: 'the webhook', advice: APPLY_CRD }),
  });
}

type PlacementEvent = Parameters<Parameters<Informer<PodPlacement>['subscribe']>[0]>[0];

/** Takes over a change of a PodPlacement. Returns whether a namespace came or went. */
function follow(byNamespace: Map<string, PreparedPlacement>, { type, object }: PlacementEvent): boolean {
  const { namespace = '' } = object.metadata ?? {};
  const isKnown = byNamespace.has(namespace);
  if (type === 'delete') return byNamespace.delete(namespace);
  byNamespace.set(namespace, prepare(object.spec));
  return !isKnown;
}

function addressOf({ url: given, namespace, service, servicePort }: PlacementWebhookFlags): WebhookAddress {
  return given === undefined ? { service: { namespace, name: service, port: servicePort } } : { url: given };
}

/** The names that the API server verifies: it calls a Service by <name>.<namespace>.svc. */
function namesOf({ url: given, namespace, service }: PlacementWebhookFlags) {
  const { hostname = '' } = given === undefined ? {} : new URL(given);
  const own = `${service}.${namespace}.svc`;
  return isIPv4(hostname)
    ? { dnsNames: [own], addresses: [hostname] }
    : { dnsNames: hostname === '' ? [own] : [own, hostname] };
}

/** A common name has at most 64 characters. The end of a pod's name is what differs between replicas. */
function commonNameOf(env: CommandContext['env']): string {
  return (podNameOf(env) ?? `${NAME}-${process.pid}`).slice(-64);
}

/** @throws UsageError if the file cannot be read, or has no certificate */
async function readClientCa(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    const pem = await readFile(file, 'utf8');
    createSecureContext({ ca: pem });
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it has no certificate');
    return pem;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--client-ca-file=${file}: cannot be used: ${why}`, { cause: error });
  }
}
