import type { LabelSelector } from '../../../../api/labelSelector.ts';
import { Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TargetRef } from '../../../../api/trafficwatch/spec/workload.ts';
import { isForbidden, isNotFound } from '../../../../runtime/client/errors.ts';
import { resourcePath, type KubeObject, type Resource } from '../../../../runtime/client/resource.ts';
import type { Transport } from '../../../../runtime/client/transport.ts';
import type { Target } from '../observation.ts';
import { withoutRevisions } from './revisions.ts';
import { parseSelectorText } from './selectorText.ts';

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
