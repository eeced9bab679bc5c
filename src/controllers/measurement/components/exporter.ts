import type { V1Container, V1DaemonSet, V1Namespace, V1Service, V1ServiceAccount } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, NAMESPACES, SERVICE_ACCOUNTS, SERVICES } from '../../../runtime/client/resources.ts';
import type { Placement } from '../../../nodes/nodeAffinity.ts';
import { realNodes } from '../../../nodes/virtualNodes.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import { EXPORTER_NAME, exporterNamespace, objectLabels, selectorLabels } from '../names.ts';
import type { ExporterOptions, MeasurementOptions } from '../options.ts';
import { IMAGE_PULL_POLICY, pullSecrets, RESTRICTED_CONTAINER, restrictedPod } from './component.ts';
import type { Component, Meta } from './component.ts';

/** Name of the exporter's port, in its container, Service and EndpointSlices. */
export const METRICS_PORT = 'metrics';

const OS_LABEL = 'kubernetes.io/os';

/**
 * Returns where the deployed node-exporter runs; undefined if none is deployed. Omits the requirement of Linux: a node without the label may
 * run Linux, and is then reported as a node without an exporter.
 *
 * @param live returns the object of a member in the cluster
 */
export function deployedPlacement(
  live: (member: Component) => KubeObject | undefined,
  options: MeasurementOptions,
): Placement | undefined {
  const member = exporterComponents(options).find(({ resource }) => resource === DAEMONSETS);
  const daemonSet: V1DaemonSet | undefined = member && live(member);
  const { nodeSelector = {}, affinity } = daemonSet?.spec?.template.spec ?? {};
  if (daemonSet === undefined) return undefined;
  const others = Object.entries(nodeSelector).filter(([key]) => key !== OS_LABEL);
  return { nodeSelector: Object.fromEntries(others), ...(affinity && { affinity }) };
}

/** Namespace, ServiceAccount, Service and DaemonSet of node-exporter. */
export function exporterComponents(options: MeasurementOptions): Component[] {
  const account: Component = { group: 'exporter', resource: SERVICE_ACCOUNTS, object: renderServiceAccount(options) };
  return [
    { group: 'exporterNamespace', resource: NAMESPACES, object: renderNamespace(options) },
    account,
    { group: 'exporter', resource: SERVICES, object: renderService(options) },
    { group: 'exporter', resource: DAEMONSETS, object: renderDaemonSet(options), dependsOn: [idOf(account)] },
  ];
}

/** The labels that select the pods of node-exporter. */
export function exporterSelector(namespace: string): Record<string, string> {
  return selectorLabels(EXPORTER_NAME, 'exporter', namespace);
}

function renderNamespace(options: MeasurementOptions): V1Namespace {
  const level = 'privileged';
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: exporterNamespace(options.namespace),
      labels: {
        ...objectLabels(exporterSelector(options.namespace)),
        'pod-security.kubernetes.io/enforce': level,
        'pod-security.kubernetes.io/audit': level,
        'pod-security.kubernetes.io/warn': level,
      },
    },
  };
}

function renderServiceAccount(options: MeasurementOptions): V1ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metaOf(options),
    automountServiceAccountToken: false,
  };
}

/** Renders a headless Service. It has no clients; it exists for its EndpointSlices, from which the targets are read. */
function renderService(options: MeasurementOptions): V1Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metaOf(options),
    spec: {
      clusterIP: 'None',
      selector: exporterSelector(options.namespace),
      ports: [{ name: METRICS_PORT, port: options.exporter.port, targetPort: METRICS_PORT, protocol: 'TCP' }],
    },
  };
}

function renderDaemonSet(options: MeasurementOptions): V1DaemonSet {
  const { exporter } = options;
  const meta = metaOf(options);
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: meta,
    spec: {
      selector: { matchLabels: exporterSelector(options.namespace) },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        metadata: {
          labels: meta.labels,
          annotations: { 'kubectl.kubernetes.io/default-container': EXPORTER_NAME },
        },
        spec: {
          serviceAccountName: EXPORTER_NAME,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          // The devices of the node are only visible in its network namespace. Nothing else of the host is needed.
          hostNetwork: true,
          nodeSelector: { [OS_LABEL]: 'linux', ...exporter.nodeSelector },
          affinity: realNodes(exporter.affinity),
          tolerations: [{ operator: 'Exists' }],
          ...(exporter.priorityClassName === '' ? {} : { priorityClassName: exporter.priorityClassName }),
          ...pullSecrets(options.imagePullSecrets),
          securityContext: restrictedPod(options.openshift),
          containers: [renderContainer(exporter)],
        },
      },
    },
  };
}

function renderContainer(exporter: ExporterOptions): V1Container {
  const probe = { httpGet: { path: '/', port: METRICS_PORT }, timeoutSeconds: 3 };
  return {
    name: EXPORTER_NAME,
    image: exporter.image,
    imagePullPolicy: IMAGE_PULL_POLICY,
    args: exporterArgs(exporter),
    env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    ports: [{ name: METRICS_PORT, containerPort: exporter.port, protocol: 'TCP' }],
    readinessProbe: { ...probe, periodSeconds: 10 },
    livenessProbe: { ...probe, periodSeconds: 30 },
    resources: exporter.resources,
    securityContext: RESTRICTED_CONTAINER,
  };
}

/**
 * Arguments of node_exporter. The collectors are netdev (bytes), netclass (speed, flags, the parent of a VLAN), and
 * ethtool (driver and bus of a device, without its statistics). The collector bonding is off: bonds and slaves are
 * recognized by their flags, and on a node without a bond that collector reports an error.
 *
 * It listens only on the node address in the EndpointSlice, so that the counters cannot be read through other, perhaps
 * public, addresses. Brackets are also valid around an IPv4 address.
 */
export function exporterArgs(exporter: ExporterOptions): string[] {
  const { port, ignoredDevices } = exporter;
  return [
    `--web.listen-address=[$(IP)]:${port}`,
    '--web.disable-exporter-metrics',
    '--collector.disable-defaults',
    '--collector.netdev',
    `--collector.netdev.device-exclude=${ignoredDevices}`,
    '--collector.netclass',
    `--collector.netclass.ignored-devices=${ignoredDevices}`,
    '--collector.ethtool',
    `--collector.ethtool.device-exclude=${ignoredDevices}`,
    '--collector.ethtool.metrics-include=^$',
  ];
}

function metaOf(options: MeasurementOptions): Meta {
  return {
    name: EXPORTER_NAME,
    namespace: exporterNamespace(options.namespace),
    labels: objectLabels(exporterSelector(options.namespace), options.exporter.image),
  };
}
