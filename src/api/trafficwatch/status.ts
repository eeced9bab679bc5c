import type { Condition } from '../../runtime/controller/conditions.ts';
import { isObject, ownValue, type JsonObject } from '../../runtime/apply/mergePatch.ts';
import type { BlockedPods, NodeStatus } from './statusSchema.ts';
import { isLabelKey } from './labelKey.ts';
import type { TrafficWatchStatus } from './schema.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const time: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const number: Check = (value) => typeof value === 'number';
const truth: Check = (value) => typeof value === 'boolean';

const CONDITION: Readonly<Record<keyof Condition, Check>> = {
  type: text,
  status: (value) => value === 'True' || value === 'False' || value === 'Unknown',
  reason: text,
  message: text,
  observedGeneration: number,
  lastTransitionTime: time,
};

const NODE: Readonly<Record<keyof NodeStatus, Check>> = {
  currentBandwidthPercent: text,
  currentTransmitTotal: number,
  capacity: text,
  capacitySource: text,
  time: number,
  unfit: truth,
  verdict: text,
  reason: text,
  message: text,
  since: time,
  labelSince: time,
};

const BLOCKED_PODS: Readonly<Record<keyof BlockedPods, Check>> = {
  count: number,
  names: (value) => Array.isArray(value) && value.every(text),
};

const STATUS: Readonly<Record<keyof TrafficWatchStatus, Check>> = {
  ready: truth,
  decided: truth,
  observedGeneration: number,
  labelKey: isLabelKey,
  podSelector: isObject,
  target: (value) => isObject(value) && ['apiVersion', 'kind', 'name'].every((key) => text(ownValue(value, key))),
  avoidedNodes: (value) => Array.isArray(value) && value.every(text),
  blockedPods: (value) => isObject(value) && fits(value, BLOCKED_PODS, ['count', 'names']),
  mode: text,
  plan: isObject,
  breakerCoolingSince: time,
  fitNodes: number,
  unfitNodes: number,
  unknownNodes: number,
  nodes: (value) => isObject(value) && Object.values(value).every((node) => isObject(node) && fits(node, NODE, [])),
  conditions: isConditions,
};

/** Whether every present field passes its check and all required fields are present. */
function fits(value: JsonObject, checks: Readonly<Record<string, Check>>, required: readonly string[]): boolean {
  return Object.entries(checks).every(([key, check]) => {
    const field = ownValue(value, key);
    return field === undefined ? !required.includes(key) : check(field);
  });
}

const ALWAYS_IN_A_CONDITION = ['type', 'status', 'reason', 'message', 'lastTransitionTime'];

function isConditions(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const types = value.map((item) => (isObject(item) ? ownValue(item, 'type') : undefined));
  const unique = new Set(types).size === types.length;
  return unique && value.every((item) => isObject(item) && fits(item, CONDITION, ALWAYS_IN_A_CONDITION));
}

/**
 * Parses the status of an object from the API server. A CRD without a schema may have accepted a status of another
 * writer. An invalid field counts as absent, so that the operator decides and writes it again.
 */
export function readStatus(status: unknown): TrafficWatchStatus | undefined {
  if (!isObject(status)) return undefined;
  const read = Object.entries(STATUS).flatMap(([key, check]): [string, unknown][] => {
    const value = ownValue(status, key);
    return value !== undefined && check(value) ? [[key, value]] : [];
  });
  return Object.fromEntries(read);
}
