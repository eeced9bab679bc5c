import type {
  CommonSpec,
  NodeExporterSpec,
  PrometheusSpec,
  PrometheusStorage,
} from '../../../api/trafficstack/trafficStack.ts';
import { prometheusDuration, readDuration } from '../../../runtime/process/duration.ts';
import { LEAST_SAMPLES_PER_WINDOW } from '../../../usage/evaluate/snapshot.ts';
import { given, placementIn, pullSecretsOf } from '../../contract/builtIn.ts';
import {
  bareName,
  defaultMeasurementOptions,
  halfOf,
  wholeName,
  type MeasurementOptions,
  type PrometheusOptions,
  type PrometheusVolume,
} from '../options.ts';

const DEFAULTS = defaultMeasurementOptions('');

/**
 * Returns the options with the settings of a node-exporter of a stack. It tolerates all taints, and runs on all nodes except those that
 * its own settings exclude, whatever the common settings say: each node is measured.
 */
export function withExporter(
  options: MeasurementOptions,
  { ignoredDevices, ...settings }: NodeExporterSpec = {},
  common: CommonSpec = {},
): MeasurementOptions {
  const { priorityClassName } = common;
  const devices = ignoredDevices === undefined ? {} : { ignoredDevices: wholeName(ignoredDevices) };
  return {
    ...options,
    imagePullSecrets: pullSecretsOf(common, options.imagePullSecrets),
    exporter: { ...options.exporter, ...given({ priorityClassName }), ...given(settings), ...devices },
  };
}

/** Returns the options with the settings of a Prometheus of a stack. */
export function withPrometheus(
  options: MeasurementOptions,
  settings: PrometheusSpec = {},
  common: CommonSpec = {},
): MeasurementOptions {
  const { priorityClassName, nodeSelector, tolerations } = common;
  const { scrapeInterval, retention, retentionSize, storage, ...ofPod } = settings;
  return {
    ...options,
    imagePullSecrets: pullSecretsOf(common, options.imagePullSecrets),
    prometheus: {
      ...options.prometheus,
      ...given({ priorityClassName, nodeSelector, tolerations }),
      ...given(ofPod),
      ...given({ scrapeIntervalSeconds: secondsOf(scrapeInterval), retentionTime: retention }),
      ...(storage !== undefined && samplesIn(storage)),
      ...given({ retentionSize }),
    },
  };
}

/** Returns the volume and the size limit of a storage. A limit set for the volume of the flags may not fit into this volume. */
function samplesIn(storage: PrometheusStorage): Pick<PrometheusOptions, 'volume' | 'retentionSize'> {
  const volume = volumeOf(storage);
  return { volume, retentionSize: standardSize(volume) };
}

function volumeOf({ size, storageClassName, existingClaim }: PrometheusStorage): PrometheusVolume | undefined {
  if (existingClaim !== undefined) return { kind: 'existing', claimName: existingClaim };
  return size === undefined ? undefined : { kind: 'claim', size, ...given({ storageClassName }) };
}

/** Returns the default size limit of samples. */
function standardSize(volume: PrometheusVolume | undefined): string {
  return volume?.kind === 'claim' ? halfOf(volume.size) : DEFAULTS.prometheus.retentionSize;
}

function secondsOf(duration: string | undefined): number | undefined {
  const ms = duration === undefined ? undefined : readDuration(duration);
  return ms === undefined ? undefined : ms / 1000;
}

/** Returns a sentence about settings of a Prometheus that contradict the flags; undefined if none do. */
export function prometheusProblem(
  { windowSeconds }: Pick<MeasurementOptions, 'windowSeconds'>,
  { scrapeInterval, retention }: PrometheusSpec = {},
): string | undefined {
  if (windowSeconds === undefined) return undefined;
  const least = LEAST_SAMPLES_PER_WINDOW * (secondsOf(scrapeInterval) ?? 0);
  if (windowSeconds < least) {
    return `prometheus.scrapeInterval is "${scrapeInterval}": --window is ${windowSeconds}s, and must be four scrapes, ${least}s, at least`;
  }
  const kept = retention === undefined ? undefined : prometheusDuration(retention);
  if (kept === undefined || windowSeconds * 1000 <= kept) return undefined;
  return `prometheus.retention is "${retention}": must be ${windowSeconds}s at least, which is --window`;
}

/**
 * Returns the settings that give a node-exporter of a stack these options, whatever the flags become. Omits the device names that the operator
 * ignores by default: a newer version may know more.
 */
export function exporterSettings({ exporter }: MeasurementOptions): NodeExporterSpec {
  const { port, affinity, resources, ignoredDevices } = exporter;
  const isOfFlag = ignoredDevices !== DEFAULTS.exporter.ignoredDevices;
  return {
    ...{ port, ...placementIn(exporter), ...given({ affinity }), resources },
    ...(isOfFlag && { ignoredDevices: bareName(ignoredDevices) }),
  };
}

/** Returns the settings that give a Prometheus of a stack these options. */
export function prometheusSettings({ prometheus }: MeasurementOptions): PrometheusSpec {
  const { resources, scrapeIntervalSeconds, retentionTime, retentionSize, volume } = prometheus;
  return {
    ...placementIn(prometheus),
    resources,
    scrapeInterval: `${scrapeIntervalSeconds}s`,
    retention: retentionTime,
    ...(retentionSize !== standardSize(volume) && { retentionSize }),
    storage: storageOf(volume),
  };
}

function storageOf(volume: PrometheusVolume | undefined): PrometheusStorage {
  if (volume === undefined) return {};
  if (volume.kind === 'existing') return { existingClaim: volume.claimName };
  const { size, storageClassName } = volume;
  return { size, ...given({ storageClassName }) };
}
