import type { V1ResourceRequirements, V1Toleration } from '@kubernetes/client-node';
import { LEAST_SAMPLES_PER_WINDOW } from '../../usage/evaluate/snapshot.ts';

/** What the operator measures with, and where. */
export interface MeasurementOptions {
  /** The operator's own namespace: Prometheus lives here, the exporter in `<namespace>-node-exporter`. */
  namespace: string;
  /**
   * Whether /metrics of the operator's own pods can be read by anybody who reaches them. Over HTTPS it asks for a token
   * that is allowed to, and Prometheus, which has no rights, has none: it then does not scrape the operator.
   */
  operatorMetrics: boolean;
  /** Secrets to pull images with; each must be in the namespace of the pods, and one that is not is passed over. */
  imagePullSecrets: readonly string[];
  exporter: ExporterOptions;
  prometheus: PrometheusOptions;
}

/** The node-exporter on every Linux node. */
export interface ExporterOptions {
  /** False: none is deployed, and the one that was is taken away. */
  enabled: boolean;
  image: string;
  /** TCP port on the node's own address. Another exporter with hostNetwork on the same port keeps ours from starting. */
  port: number;
  /** Go regular expression of device names that are not even read: the node's ends of pod interfaces. */
  ignoredDevices: string;
  /**
   * '' for none, which works everywhere. With system-node-critical a node that is full of pods is measured, too, but GKE
   * and others make no critical pod outside kube-system where no ResourceQuota names the class: nothing would be.
   */
  priorityClassName: string;
  resources: V1ResourceRequirements;
}

/** The operator's own Prometheus. */
export interface PrometheusOptions {
  /** False: none is deployed, because one exists that is asked instead; the one that was is taken away. */
  enabled: boolean;
  /** 3.15 or newer: older ones do not take the retention from the configuration file. */
  image: string;
  /** Seconds from scrape to scrape. A rate wants a window of at least four of them. */
  scrapeIntervalSeconds: number;
  /** How long samples are kept, in Prometheus' notation. */
  retentionTime: string;
  /** Upper bound of the blocks on disk, in Prometheus' notation: powers of two, 1GB is 2^30 bytes. */
  retentionSize: string;
  /** Upper bound of the emptyDir, a Kubernetes quantity: blocks, and beside them the newest three hours not yet in one. */
  storageSize: string;
  /** What stands in for the emptyDir. */
  volume?: PrometheusVolume;
  priorityClassName: string;
  nodeSelector: Record<string, string>;
  tolerations: V1Toleration[];
  resources: V1ResourceRequirements;
}

/** A volume that outlasts the pod: a claim that the operator makes, or one that is there. */
export type PrometheusVolume =
  | {
      kind: 'claim';
      /** A Kubernetes quantity. */
      size: string;
      /** Absent: the cluster's default. */
      storageClassName?: string;
    }
  | { kind: 'existing'; claimName: string };

/** TCP port of Prometheus in its pod and Service. */
export const PROMETHEUS_PORT = 9090;

/** Seconds of samples that a rate is taken over where the operator's own Prometheus is asked: four scrapes of 5 s. */
export const DEFAULT_RATE_WINDOW_SECONDS = 20;

/**
 * The window where none is given: as many scrapes as nodes are judged by, but never shorter than by default, so that
 * scraping more often makes no verdict more nervous.
 */
export function defaultRateWindowSeconds(scrapeIntervalSeconds: number): number {
  return Math.max(DEFAULT_RATE_WINDOW_SECONDS, LEAST_SAMPLES_PER_WINDOW * scrapeIntervalSeconds);
}

/**
 * Names that container network plug-ins generate for the node's end of a pod's interface: a known prefix and hex digits
 * (bridge, ptp, Calico, Cilium, AWS, Azure, GKE), 15 hex digits (OVN), up to twelve and _h (Kube-OVN), or the pod's name
 * and six (Antrea). The prefix alone would also match an uplink that happens to be a veth, and a node whose only uplink
 * is one must be measured.
 */
export const POD_INTERFACES =
  '^((veth|cali|lxc|eni|azv|gke)[0-9a-f]{6,}|[0-9a-f]{15}|[0-9a-f]{5,12}(_[0-9a-z]+)?_[hc]|.+-[0-9a-f]{6}|lxc_health)$';

/** Everything as it is unless somebody says otherwise. */
export function defaultMeasurementOptions(namespace: string): MeasurementOptions {
  return {
    namespace,
    operatorMetrics: true,
    imagePullSecrets: [],
    exporter: { ...EXPORTER },
    prometheus: { ...PROMETHEUS },
  };
}

/** Where the operator's own Prometheus is asked, from any pod of the cluster. */
export function measurementEndpoint(options: Pick<MeasurementOptions, 'namespace'>): string {
  return `http://prometheus.${options.namespace}.svc:${PROMETHEUS_PORT}`;
}

const EXPORTER: ExporterOptions = {
  enabled: true,
  image: 'quay.io/prometheus/node-exporter:v1.12.1',
  port: 9100,
  ignoredDevices: POD_INTERFACES,
  priorityClassName: '',
  // Four collectors take about 20 MB. No CPU limit: a throttled scrape is a late sample.
  resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '96Mi' } },
};

/**
 * Sized for some hundred nodes. A node with four devices is about 30 series: at 5 s and 1.5 bytes a sample that is
 * 0.8 MB a day on disk, and 100 to 150 kB of memory.
 */
const PROMETHEUS: PrometheusOptions = {
  enabled: true,
  image: 'quay.io/prometheus/prometheus:v3.15.0',
  scrapeIntervalSeconds: 5,
  retentionTime: '24h',
  retentionSize: '1GB',
  storageSize: '2Gi',
  priorityClassName: '',
  nodeSelector: {},
  tolerations: [],
  resources: { requests: { cpu: '50m', memory: '192Mi' }, limits: { memory: '1Gi' } },
};
