import { createHash } from 'node:crypto';
import type { TrafficWatch } from './schema.ts';
import { LABEL_KEY_SUFFIX, LABEL_PATTERN, MAX_LABEL_LENGTH } from './label.ts';

/** The length of a prefix with a hash. A prefix without a hash is shorter, so the two cannot be equal. */
const HASHED_LENGTH = 40;
/** Characters of the hash, five bits each: with 80 bits, no one can find a label that results in the key of another namespace. */
const LEAST_HASH_LENGTH = 16;

/**
 * The label key that a TrafficWatch gets: it carries the namespace, so no other namespace can have it. Namespaces have no
 * dot, so the last dot separates.
 *
 * | `<spec.label or name>.<namespace>` | prefix of the key                                               |
 * |------------------------------------|-----------------------------------------------------------------|
 * | at most 39 characters              | `<spec.label or name>.<namespace>`                              |
 * | longer                             | its head, `-`, and a hash of both parts: exactly 40 characters  |
 */
export function nativeKeyOf(watch: TrafficWatch): string {
  const { namespace = 'default' } = watch.metadata ?? {};
  const text = `${labelOf(watch)}.${namespace}`;
  return `${text.length < HASHED_LENGTH ? text : hashedPrefix(text, `${namespace}/${labelOf(watch)}`)}${LABEL_KEY_SUFFIX}`;
}

/** Returns the namespace that a native key names; '' if it has a hash instead, and for any other key. */
export function namespaceOfKey(key: string): string {
  const prefix = key.endsWith(LABEL_KEY_SUFFIX) ? key.slice(0, -LABEL_KEY_SUFFIX.length) : '';
  return prefix.length < HASHED_LENGTH && prefix.includes('.') ? prefix.slice(prefix.lastIndexOf('.') + 1) : '';
}

/** The label key of earlier versions and of PKopel/traffic-operator, without the namespace: first come, first served. */
function legacyKeyOf(watch: TrafficWatch): string {
  return `${labelOf(watch)}${LABEL_KEY_SUFFIX}`;
}

/**
 * The label key of a TrafficWatch.
 *
 * | status                                                       | key    |
 * |--------------------------------------------------------------|--------|
 * | its label key is the legacy key of the present spec          | legacy |
 * | PKopel/traffic-operator wrote it (see isOfPKopel)            | legacy |
 * | any other, also without a label key as with mode Observe     | native |
 * | none                                                         | native |
 *
 * So an existing TrafficWatch keeps its key until its label changes, and none gets a legacy key that it did not have.
 */
export function labelKeyOf(watch: TrafficWatch): string {
  const legacy = legacyKeyOf(watch);
  const keepsLegacy = watch.status?.labelKey === legacy || isOfPKopel(watch);
  return keepsLegacy && isLabelKey(legacy) ? legacy : nativeKeyOf(watch);
}

/**
 * Whether PKopel/traffic-operator wrote the status: it has nodes, but neither label key nor mode. This operator writes a
 * mode with every status, and no nodes before that. The status may have any shape.
 */
export function isOfPKopel({ status }: Pick<TrafficWatch, 'status'>): boolean {
  const { nodes, mode, labelKey }: { nodes?: unknown; mode?: unknown; labelKey?: unknown } = status ?? {};
  return typeof nodes === 'object' && nodes !== null && mode === undefined && labelKey === undefined;
}

/** Whether a value has the form of the label keys that `labelKeyOf` returns. */
export function isLabelKey(value: unknown): value is string {
  if (typeof value !== 'string' || !value.endsWith(LABEL_KEY_SUFFIX)) return false;
  const prefix = value.slice(0, -LABEL_KEY_SUFFIX.length);
  return prefix !== '' && prefix.length <= MAX_LABEL_LENGTH && new RegExp(LABEL_PATTERN).test(prefix);
}

function labelOf({ spec: { label = '' }, metadata }: TrafficWatch): string {
  return label === '' ? (metadata?.name ?? '') : label;
}

/** The head must end in a letter or digit, as every part of a DNS name. The hash is longer then. */
function hashedPrefix(text: string, hashed: string): string {
  const head = text.slice(0, HASHED_LENGTH - LEAST_HASH_LENGTH - 1).replace(/[-.]+$/, '');
  const hash = BigInt(`0x${createHash('sha256').update(hashed).digest('hex')}`).toString(32);
  return `${head}-${hash.padStart(HASHED_LENGTH, '0').slice(head.length + 1 - HASHED_LENGTH)}`;
}
