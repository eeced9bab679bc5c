import { Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TargetRef } from '../../../../api/trafficwatch/spec/workload.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Transport } from '../../../../runtime/client/transport.ts';
import type { Target } from '../observation.ts';
import { Answers } from './answers.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../../../../api/labelSelector.ts';
import { isForbidden, isNotFound } from '../../../../runtime/client/errors.ts';
import { resourcePath, type KubeObject, type Resource } from '../../../../runtime/client/resource.ts';

/**
 * Time until a selector is read again, ms. Selectors of apps/v1 are immutable, so a selector changes only if its target was
 * deleted and created again. The labels of a CronJob's pods can change: its new pods may wait this long.
 */
const FRESH_MS = 60_000;
/** The same while the target is unknown: its pods are unprotected, so the next pass asks again. */
const UNKNOWN_FRESH_MS = 5_000;

/**
 * The targets of TrafficWatches. Asks the API server at most once a minute for each, or every 5 s while unknown. The labels
 * of the nodes do not depend on the target, so a slow answer delays a reconcile by a second at most: see Answers.
 */
export class Targets {
  readonly #requests: Pick<Transport, 'request'>;
  readonly #answers: Answers<Target>;
  /** The reference that was asked for last, by the key of the TrafficWatch. */
  readonly #refs = new Map<string, string>();

  constructor(o: { transport: Pick<Transport, 'request'>; clock: Clock }) {
    this.#requests = o.transport;
    const freshMs = ({ selector }: Target): number => (selector === undefined ? UNKNOWN_FRESH_MS : FRESH_MS);
    this.#answers = new Answers({ clock: o.clock, freshMs });
  }

  /**
   * The target of the TrafficWatch `key`. Throws nothing.
   * @param key namespace/name
   */
  async targetOf(key: string, ref: TargetRef): Promise<Target> {
    const text = JSON.stringify([ref.apiVersion, ref.kind, ref.name]);
    if (this.#refs.get(key) !== text) this.#answers.forget(key);
    this.#refs.set(key, text);
    const namespace = key.slice(0, key.indexOf('/'));
    const target = await this.#answers.of(key, () => readTarget(this.#requests, namespace, ref));
    return target ?? notAnswered(`${ref.kind} ${namespace}/${ref.name}`);
  }

  /** Call when the TrafficWatch of this key is deleted. */
  forget(key: string): void {
    this.#refs.delete(key);
    this.#answers.forget(key);
  }
}

function notAnswered(told: string): Target {
  return { reason: Reason.TargetUnreadable, message: `${told} is not read yet: the API server has not answered` };
}

interface Workload extends KubeObject {
  spec?: {
    selector?: LabelSelector;
    manualSelector?: boolean;
    jobTemplate?: { spec?: { template?: { metadata?: { labels?: Labels } } } };
  };
}
type Labels = Record<string, string>;

interface Scale extends KubeObject {
  status?: { selector?: string };
}

interface ResourceList {
  resources?: { name: string; kind: string; namespaced?: boolean }[];
}

/** How to find the selector of a kind. */
interface KnownKind {
  readonly group: string;
  readonly plural: string;
  readonly selectorOf: (workload: Workload) => LabelSelector | undefined;
}

const bySelector = ({ spec }: Workload): LabelSelector | undefined => spec?.selector;

/** The Jobs of a CronJob have selectors of their own; their pods have the labels of the template, as for the VPA. */
const byTemplate = ({ spec }: Workload): LabelSelector | undefined => {
  const labels = spec?.jobTemplate?.spec?.template?.metadata?.labels;
  return labels === undefined ? undefined : { matchLabels: labels };
};

/**
 * The selector of a Job contains its uid, so it differs for another Job of the same name. The pods also have the name, which
 * is known before the Job exists: https://kubernetes.io/docs/concepts/workloads/controllers/job/
 */
const byJobName = (name: string): LabelSelector => ({ matchLabels: { 'batch.kubernetes.io/job-name': name } });

const ofJob = ({ spec, metadata }: Workload): LabelSelector | undefined =>
  spec?.manualSelector === true ? spec.selector : byJobName(metadata?.name ?? '');

/** The built-in kinds whose object has the selector. Every other kind must have a scale subresource. */
const KNOWN: Readonly<Record<string, KnownKind>> = {
  Deployment: { group: 'apps', plural: 'deployments', selectorOf: bySelector },
  StatefulSet: { group: 'apps', plural: 'statefulsets', selectorOf: bySelector },
  ReplicaSet: { group: 'apps', plural: 'replicasets', selectorOf: bySelector },
  DaemonSet: { group: 'apps', plural: 'daemonsets', selectorOf: bySelector },
  Job: { group: 'batch', plural: 'jobs', selectorOf: ofJob },
  CronJob: { group: 'batch', plural: 'cronjobs', selectorOf: byTemplate },
};

/** The built-in kinds that the operator reads, by API group: its rights. */
export function readKinds(group: string): string[] {
  return Object.values(KNOWN)
    .filter((kind) => kind.group === group)
    .map(({ plural }) => plural);
}

type Requests = Pick<Transport, 'request'>;

/** Not repeated: the question is asked again every few seconds. The transport ends an attempt after 10 s. */
const GET = { method: 'GET', retry: false } as const;

/**
 * Reads which pods the workload has. Throws nothing: a failed request gives the reason TargetUnreadable.
 * @param namespace of the TrafficWatch and its target
 */
export async function readTarget(requests: Requests, namespace: string, ref: TargetRef): Promise<Target> {
  const told = `${ref.kind} ${namespace}/${ref.name}`;
  try {
    const selector = await selectorOf(requests, namespace, ref);
    if (selector === 'no such kind') return kindUnknown(ref);
    if (selector === 'only a revision') return onlyRevision(told);
    return isEmpty(selector) ? withoutPods(told) : { selector };
  } catch (error) {
    if (isNotFound(error)) return notFound(ref, `${told} does not exist`);
    return { reason: Reason.TargetUnreadable, message: `${told} cannot be read: ${unreadable(error)}` };
  }
}

async function selectorOf(
  requests: Requests,
  namespace: string,
  ref: TargetRef,
): Promise<LabelSelector | undefined | 'no such kind' | 'only a revision'> {
  const [group, version] = groupVersionOf(ref.apiVersion);
  const known = Object.hasOwn(KNOWN, ref.kind) ? KNOWN[ref.kind] : undefined;
  const at = { namespace, name: ref.name };
  if (known?.group === group) {
    const resource: Resource = { group, version, kind: ref.kind, plural: known.plural, namespaced: true };
    return known.selectorOf(await requests.request({ ...GET, path: resourcePath(resource, at) }));
  }
  const plural = await scalablePlural(requests, group, version, ref.kind);
  if (plural === undefined) return 'no such kind';
  const resource: Resource = { group, version, kind: ref.kind, plural, namespaced: true };
  const path = resourcePath(resource, at, 'scale');
  const { status } = await requests.request<Scale>({ ...GET, path });
  const selector = parseSelectorText(status?.selector ?? '');
  return selector && withoutRevisions(selector);
}

/** The plural name of a namespaced kind with a scale subresource, from the API server's discovery document. */
async function scalablePlural(
  requests: Requests,
  group: string,
  version: string,
  kind: string,
): Promise<string | undefined> {
  const [inPath, versionInPath] = [group, version].map(encodeURIComponent);
  const path = group === '' ? `/api/${versionInPath}` : `/apis/${inPath}/${versionInPath}`;
  try {
    const { resources = [] } = await requests.request<ResourceList>({ ...GET, path });
    const isOne = (plural: string): boolean => resources.some(({ name }) => name === `${plural}/scale`);
    return resources.find((each) => each.kind === kind && each.namespaced === true && isOne(each.name))?.name;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** ['apps', 'v1'] of apps/v1; ['', 'v1'] of v1. */
function groupVersionOf(apiVersion: string): [string, string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

/** A workload without a selector must not turn into a selector of all pods. */
function isEmpty(selector: LabelSelector | undefined): selector is undefined {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

function notFound({ apiVersion, kind, name }: TargetRef, message: string): Target {
  const isJob = kind === 'Job' && apiVersion.startsWith('batch/');
  return { reason: Reason.TargetNotFound, message, ...(isJob ? { expected: byJobName(name) } : {}) };
}

function kindUnknown({ apiVersion, kind }: TargetRef): Target {
  const message =
    `the API server serves no ${kind} of ${apiVersion} in namespaces, or none with a scale subresource: ` +
    `correct spec.targetRef, or use spec.podSelector`;
  return { reason: Reason.TargetKindUnknown, message };
}

function withoutPods(told: string): Target {
  const message = `${told} has no readable pod selector: use spec.podSelector`;
  return { reason: Reason.TargetWithoutPods, message };
}

function onlyRevision(told: string): Target {
  const message = `the scale of ${told} selects pods by the hash of their revision only, which the next revision does not have: use spec.podSelector`;
  return { reason: Reason.TargetWithoutPods, message };
}

function unreadable(error: unknown): string {
  const text = error instanceof Error ? error.message : 'unknown error';
  return isForbidden(error)
    ? `${text}; grant the operator's ServiceAccount the verb get on it (docs/workloads.md)`
    : text;
}

const KEY = '([A-Za-z0-9][-A-Za-z0-9_./]*)';
const IN_SET = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const EQUALITY = new RegExp(`^${KEY}\\s*(=|==|!=)\\s*([-A-Za-z0-9_.]*)$`);
const PRESENCE = new RegExp(`^(!?)\\s*${KEY}$`);
/** Longest selector text that is parsed, in characters. Real ones have some hundred; the status keeps the selector. */
const MOST_OF_SELECTOR = 16 * 1024;

/**
 * The LabelSelector of a selector text, as the field `status.selector` of a Scale has it: `app=web,tier in (a, b),!old`.
 * The grammar is the grammar of apimachinery's labels.Parse, without its numeric comparisons, which a LabelSelector cannot
 * express: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 *
 * @returns undefined for a text that is empty, longer than MOST_OF_SELECTOR or not of this grammar: an empty selector would select every pod
 */
export function parseSelectorText(text: string): LabelSelector | undefined {
  if (text.length > MOST_OF_SELECTOR) return undefined;
  const parts = betweenCommas(text)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const requirements = parts.map(requirementOf);
  if (requirements.length === 0) return undefined;
  const matchExpressions = requirements.filter((each) => each !== undefined);
  return matchExpressions.length === requirements.length ? { matchExpressions } : undefined;
}

/** The parts between the commas that are not within the brackets of a set. */
function betweenCommas(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

function requirementOf(part: string): LabelSelectorRequirement | undefined {
  const [, key = '', operator, value = ''] = EQUALITY.exec(part) ?? IN_SET.exec(part) ?? [];
  if (operator === 'in' || operator === 'notin') {
    const values = value.split(',').map((each) => each.trim());
    return { key, operator: operator === 'in' ? 'In' : 'NotIn', values };
  }
  if (operator !== undefined) return { key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] };
  const [, not, present] = PRESENCE.exec(part) ?? [];
  if (present === undefined) return undefined;
  return { key: present, operator: not === '!' ? 'DoesNotExist' : 'Exists' };
}

/**
 * Labels whose value is the hash of a pod template: of Argo Rollouts, of Deployments, and of StatefulSets and DaemonSets.
 * With the strategy blueGreen, the scale of a Rollout has the selector of the active ReplicaSet
 * (https://github.com/argoproj/argo-rollouts/blob/007746dd813136e8a334fdc1fdff46096c257137/rollout/bluegreen.go).
 */
const REVISION_LABELS: ReadonlySet<string> = new Set([
  'rollouts-pod-template-hash',
  'pod-template-hash',
  'controller-revision-hash',
]);

/**
 * The selector of a scale without requirements on the revision, since pods of the next revision need the affinity as well.
 *
 * | requirements            | the others                            | result          |
 * |-------------------------|---------------------------------------|-----------------|
 * | none on the revision    | any                                   | unchanged       |
 * | some on the revision    | one that asks for a label or its value | the others     |
 * | some on the revision    | none, or only labels that pods must not have | 'only a revision': they would select pods of other workloads |
 */
function withoutRevisions(selector: LabelSelector): LabelSelector | 'only a revision' {
  const { matchExpressions: all = [] } = selector;
  const others = all.filter(({ key }) => !REVISION_LABELS.has(key));
  if (others.length === all.length) return selector;
  return others.some(asksForLabel) ? { ...selector, matchExpressions: others } : 'only a revision';
}

function asksForLabel({ operator }: LabelSelectorRequirement): boolean {
  return operator === 'In' || operator === 'Exists';
}
