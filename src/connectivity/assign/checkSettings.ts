import type { ConnectivityCheck } from '../../api/connectivitycheck/connectivityCheck.ts';
import {
  DEFAULT_INTERVAL,
  DEFAULT_LOSS_PERCENT,
  DEFAULT_PEERS,
  PLANES,
  type Plane,
} from '../../api/connectivitycheck/terms.ts';
import { durationMs } from '../../api/fieldSchemas.ts';
import { createLabelMatcher, type LabelMatcher } from '../../api/labelMatcher.ts';
import { MOST_ASSIGNED_URLS } from '../protocol/limits.ts';
import type { Assignment } from '../protocol/measurement.ts';

/** The settings of a ConnectivityCheck, with the defaults of absent fields. */
export interface CheckSettings {
  readonly name: string;
  readonly generation: number;
  readonly intervalMs: number;
  readonly peers: number;
  readonly planes: readonly Plane[];
  readonly probes: Assignment['probes'];
  readonly urls: readonly string[];
  readonly lossPercent: number;
  readonly selects: LabelMatcher;
  /** Its status has findings. */
  readonly hasFindings: boolean;
}

/** Reads a ConnectivityCheck that its CRD accepted. An interval that cannot be read is the default. */
export function settingsOf({ metadata, spec = {}, status }: ConnectivityCheck): CheckSettings {
  const { interval = DEFAULT_INTERVAL, peers = DEFAULT_PEERS, planes = [], probes = {}, thresholds } = spec;
  return {
    name: metadata?.name ?? '',
    generation: metadata?.generation ?? 0,
    intervalMs: durationMs(interval) || durationMs(DEFAULT_INTERVAL),
    peers,
    planes: planes.length === 0 ? PLANES : planes,
    probes: { dns: probes.dns ?? true, apiServer: probes.apiServer ?? true, mtu: probes.mtu ?? true },
    urls: probes.urls ?? [],
    lossPercent: thresholds?.lossPercent ?? DEFAULT_LOSS_PERCENT,
    selects: createLabelMatcher(spec.nodeSelector ?? {}),
    hasFindings: status?.summary !== undefined,
  };
}

/**
 * Returns the assignment of an agent for several checks: the shortest interval, and the probes and URLs of all checks.
 * Without a check it has no interval and no probe.
 */
export function combined(checks: readonly CheckSettings[]): Omit<Assignment, 'peers'> {
  const has = (probe: keyof Assignment['probes']): boolean => checks.some(({ probes }) => probes[probe]);
  return {
    // An interval below a second is one: the reports of agents are in whole seconds.
    ...(checks.length > 0 && { intervalSeconds: Math.ceil(shortestMs(checks) / 1_000) }),
    probes: { dns: has('dns'), apiServer: has('apiServer'), mtu: has('mtu') },
    urls: urlsOf(checks).requested,
  };
}

/** The URLs of several checks, each once: those that an agent requests, and those beyond what it may request. In the order of the checks. */
export function urlsOf(checks: readonly CheckSettings[]): {
  readonly requested: readonly string[];
  readonly leftOut: readonly string[];
} {
  const urls = [...new Set(checks.flatMap(({ urls: each }) => each))];
  return { requested: urls.slice(0, MOST_ASSIGNED_URLS), leftOut: urls.slice(MOST_ASSIGNED_URLS) };
}

/** Returns the shortest interval of the checks, ms. Needs at least one check. */
export function shortestMs(checks: readonly CheckSettings[]): number {
  return Math.min(...checks.map(({ intervalMs }) => intervalMs));
}
