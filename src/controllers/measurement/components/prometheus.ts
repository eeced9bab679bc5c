import { createHash } from 'node:crypto';
import type {
  V1ConfigMap,
  V1Container,
  V1Deployment,
  V1KeyToPath,
  V1OwnerReference,
  V1PodSpec,
  V1Probe,
  V1Service,
  V1ServiceAccount,
  V1Volume,
  V1PersistentVolumeClaim,
} from '@kubernetes/client-node';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  SERVICE_ACCOUNTS,
  SERVICES,
  PERSISTENT_VOLUME_CLAIMS,
} from '../../../runtime/client/resources.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import {
  AGENT_TARGETS,
  CLAIM_NAME,
  CONFIG_HASH_ANNOTATION,
  CONFIG_NAME,
  NODE_TARGETS,
  objectLabels,
  PROMETHEUS_NAME,
  selectorLabels,
  TARGET_SHARDS,
  targetsName,
} from '../names.ts';
import { PROMETHEUS_PORT, type MeasurementOptions, type PrometheusOptions, type PrometheusVolume } from '../options.ts';
import {
  IMAGE_PULL_POLICY,
  pullSecrets,
  RESTRICTED_CONTAINER,
  restrictedPod,
  type Component,
  type Meta,
} from './component.ts';
import {
  RULE_FILES,
  renderPrometheusConfig,
  scrapeIntervalIn,
  SERVER_CA_DIRECTORY,
  TARGETS_DIRECTORY,
} from './prometheusConfig.ts';
import { renderAlertingRules, renderRestartingRules } from './rules/alerts.ts';
import { renderRecordingRules } from './rules/recording.ts';
import RELEASED_TEXTS from './rules/releasedTexts.json' with { type: 'json' };

const CONFIG_DIRECTORY = '/etc/prometheus/config';
const STORAGE_DIRECTORY = '/prometheus';
const CONFIG_FILE = 'prometheus.yml';
const WEB_PORT = 'web';
const SERVER_CA = 'connectivity-ca';

/**
 * Renders ServiceAccount, configuration, Service, Deployment and claim of Prometheus. The ConfigMaps of the targets are written
 * separately, when nodes change.
 *
 * @param owner the operator's own Deployment, so that the objects are deleted with it
 */
export function prometheusComponents(options: MeasurementOptions, owner?: V1OwnerReference): Component[] {
  const group = 'prometheus';
  const account: Component = { group, resource: SERVICE_ACCOUNTS, object: renderServiceAccount(options, owner) };
  const config: Component = { group, resource: CONFIG_MAPS, object: renderConfigMap(options, owner) };
  // The Deployment does not depend on the claim, although its pod waits for it: a rejected change of the claim must not
  // block changes of the Deployment.
  const dependsOn = [account, config].map(idOf);
  return [
    account,
    config,
    { group, resource: SERVICES, object: renderService(options, owner) },
    { group, resource: DEPLOYMENTS, object: renderDeployment(options, owner), dependsOn },
    ...claimComponents(options.prometheus.volume, prometheusMeta(CLAIM_NAME, options, owner)),
  ];
}

/** The labels that select Prometheus' pods. */
export function prometheusSelector(namespace: string): Record<string, string> {
  return selectorLabels(PROMETHEUS_NAME, 'prometheus', namespace);
}

/** The metadata of one of Prometheus' objects. */
export function prometheusMeta(name: string, options: MeasurementOptions, owner?: V1OwnerReference): Meta {
  return {
    name,
    namespace: options.namespace,
    labels: objectLabels(prometheusSelector(options.namespace), options.prometheus.image),
    ...(owner === undefined ? {} : { ownerReferences: [owner] }),
  };
}

function renderServiceAccount(options: MeasurementOptions, owner?: V1OwnerReference): V1ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: prometheusMeta(PROMETHEUS_NAME, options, owner),
    automountServiceAccountToken: false,
  };
}

function renderConfigMap(options: MeasurementOptions, owner?: V1OwnerReference): V1ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: prometheusMeta(CONFIG_NAME, options, owner),
    data: Object.fromEntries(configFiles(options).map(({ path, content }) => [keyOfPath(path), content])),
  };
}

/** The configuration files of Prometheus. Paths are relative to the directory of prometheus.yml. */
export function configFiles(
  options: MeasurementOptions,
  alerts = renderAlertingRules(options),
): { path: string; content: string }[] {
  return [
    { path: CONFIG_FILE, content: renderPrometheusConfig(options) },
    { path: RULE_FILES.recording, content: renderRecordingRules(options) },
    { path: RULE_FILES.alerts, content: alerts },
  ];
}

/** The scrape interval of the Prometheus whose objects these are, seconds; undefined without its ConfigMap. */
export function deployedScrapeInterval(live: readonly (KubeObject | undefined)[]): number | undefined {
  const configMap: V1ConfigMap | undefined = live.find((object) => object?.metadata?.name === CONFIG_NAME);
  return scrapeIntervalIn(configMap?.data?.[keyOfPath(CONFIG_FILE)] ?? '');
}

/** The ConfigMap key of a file. Keys have no slashes; the items of the volume restore the path. */
function keyOfPath(path: string): string {
  return path.replaceAll('/', '.');
}

function renderService(options: MeasurementOptions, owner?: V1OwnerReference): V1Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: prometheusMeta(PROMETHEUS_NAME, options, owner),
    spec: {
      type: 'ClusterIP',
      selector: prometheusSelector(options.namespace),
      ports: [{ name: WEB_PORT, port: PROMETHEUS_PORT, targetPort: WEB_PORT, protocol: 'TCP' }],
    },
  };
}

/** Exactly one replica: two would each scrape every node, and give different results. */
function renderDeployment(options: MeasurementOptions, owner?: V1OwnerReference): V1Deployment {
  const meta = prometheusMeta(PROMETHEUS_NAME, options, owner);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta,
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 2,
      selector: { matchLabels: prometheusSelector(options.namespace) },
      template: {
        metadata: {
          labels: meta.labels,
          annotations: {
            'kubectl.kubernetes.io/default-container': PROMETHEUS_NAME,
            [CONFIG_HASH_ANNOTATION]: hashOf(
              asReleased(JSON.stringify(configFiles(options, renderRestartingRules(options)))),
            ),
          },
        },
        spec: renderPodSpec(options),
      },
    },
  };
}

function renderPodSpec(options: MeasurementOptions): V1PodSpec {
  const { priorityClassName, nodeSelector, tolerations } = options.prometheus;
  return {
    serviceAccountName: PROMETHEUS_NAME,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    nodeSelector: { 'kubernetes.io/os': 'linux', ...nodeSelector },
    ...(tolerations.length === 0 ? {} : { tolerations }),
    ...(priorityClassName === '' ? {} : { priorityClassName }),
    ...pullSecrets(options.imagePullSecrets),
    securityContext: restrictedPod(options.openshift, true),
    containers: [renderContainer(options)],
    volumes: renderVolumes(options),
  };
}

function renderContainer(options: MeasurementOptions): V1Container {
  return {
    name: PROMETHEUS_NAME,
    image: options.prometheus.image,
    imagePullPolicy: IMAGE_PULL_POLICY,
    args: [
      `--config.file=${CONFIG_DIRECTORY}/${CONFIG_FILE}`,
      `--storage.tsdb.path=${STORAGE_DIRECTORY}`,
      `--web.listen-address=:${PROMETHEUS_PORT}`,
      '--log.format=json',
    ],
    ports: [{ name: WEB_PORT, containerPort: PROMETHEUS_PORT, protocol: 'TCP' }],
    // WAL replay after a crash can take minutes in a large cluster. Allow ten.
    startupProbe: probe('/-/ready', 2, 300),
    readinessProbe: probe('/-/ready', 5, 3),
    livenessProbe: probe('/-/healthy', 10, 6),
    resources: options.prometheus.resources,
    securityContext: RESTRICTED_CONTAINER,
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIRECTORY, readOnly: true },
      // Mount the directory, not single files by subPath: the kubelet never updates a subPath in a running container.
      { name: 'targets', mountPath: TARGETS_DIRECTORY, readOnly: true },
      { name: 'storage', mountPath: STORAGE_DIRECTORY },
      ...(hasServerCa(options) ? [{ name: SERVER_CA, mountPath: SERVER_CA_DIRECTORY, readOnly: true }] : []),
    ],
  };
}

/** The ConfigMaps of targets are optional: they may not exist yet, or one may be enough. */
function renderVolumes(options: MeasurementOptions): V1Volume[] {
  const sets = options.connectivity ? [NODE_TARGETS, AGENT_TARGETS] : [NODE_TARGETS];
  const shards = sets.flatMap((set) => Array.from({ length: TARGET_SHARDS }, (_, index) => targetsName(index, set)));
  return [
    { name: 'config', configMap: { name: CONFIG_NAME, items: configItems(options) } },
    { name: 'targets', projected: { sources: shards.map((name) => ({ configMap: { name, optional: true } })) } },
    { name: 'storage', ...renderStorage(options.prometheus) },
    ...(hasServerCa(options) ? [serverCaVolume(options.connectivityTlsSecret)] : []),
  ];
}

function hasServerCa({ connectivity, connectivityTlsSecret }: MeasurementOptions): boolean {
  return connectivity && connectivityTlsSecret !== '';
}

/** The volume has no private key. It is optional: without the connectivity server, nodes are still measured. */
function serverCaVolume(secretName: string): V1Volume {
  return { name: SERVER_CA, secret: { secretName, optional: true, items: [{ key: 'ca.crt', path: 'ca.crt' }] } };
}

function configItems(options: MeasurementOptions): V1KeyToPath[] {
  return configFiles(options).map(({ path }) => ({ key: keyOfPath(path), path }));
}

function probe(path: string, periodSeconds: number, failureThreshold: number): V1Probe {
  return { httpGet: { path, port: WEB_PORT }, periodSeconds, failureThreshold, timeoutSeconds: 3 };
}

/** Returns a configuration with the texts that it was released with: better words alone must not restart a Prometheus, which may lose its samples. */
function asReleased(config: string): string {
  return RELEASED_TEXTS.reduce((text, [now = '', then = '']) => text.replaceAll(now, then), config);
}

/** The first 16 digits of the SHA-256. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Returns the claim for the samples of Prometheus; none for an emptyDir or an existing claim. */
export function claimComponents(volume: PrometheusVolume | undefined, metadata: Meta): Component[] {
  if (volume?.kind !== 'claim') return [];
  const { size, storageClassName } = volume;
  const object: V1PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {
      // Only one pod uses the claim at a time: the strategy of the Deployment is Recreate.
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
  return [{ group: 'claim', resource: PERSISTENT_VOLUME_CLAIMS, object }];
}

/** Renders the volume for samples: a claim, or an emptyDir, which is deleted with the pod. */
function renderStorage({ volume, storageSize }: PrometheusOptions): Omit<V1Volume, 'name'> {
  if (volume === undefined) return { emptyDir: { sizeLimit: storageSize } };
  return { persistentVolumeClaim: { claimName: volume.kind === 'claim' ? CLAIM_NAME : volume.claimName } };
}
