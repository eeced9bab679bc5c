import * as z from 'zod';
import { podTerms, type PreparedPlacement } from '../podTerms.ts';

const API_VERSION = 'admission.k8s.io/v1';

/** The fields of an AdmissionReview that are read. The pod is checked by what evaluates it. */
const reviewSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('AdmissionReview'),
  request: z.object({
    uid: z.string().min(1).max(100),
    namespace: z.string().max(253).default(''),
    operation: z.literal('CREATE'),
    resource: z.object({ group: z.literal(''), version: z.literal('v1'), resource: z.literal('pods') }),
    object: z.record(z.string(), z.unknown()),
  }),
});

/** The response to an AdmissionReview. */
export interface ReviewAnswer {
  /** 200, or 400 for a body that is no review of a new pod. */
  readonly status: 200 | 400;
  readonly result: 'patched' | 'unchanged' | 'failed' | 'malformed';
  readonly text: string;
  /** Why a pod gets no terms that it should have, for the log. */
  readonly problem?: string;
}

/**
 * The answer to an AdmissionReview of a new pod: always allowed, with the terms of the TrafficWatches that select the pod.
 *
 * @param body JSON of any shape
 * @param placementOf the PodPlacement of a namespace; undefined if it has none
 */
export function answerReview(
  body: string,
  placementOf: (namespace: string) => PreparedPlacement | undefined,
): ReviewAnswer {
  const read = reviewSchema.safeParse(parsed(body));
  if (!read.success) {
    const { path = [], message = '' } = read.error.issues[0] ?? {};
    const where = path.map(String).join('.') || 'the body';
    const text = `must be an AdmissionReview (${API_VERSION}) of a new pod: ${where}: ${message}\n`;
    return { status: 400, result: 'malformed', text };
  }
  const { uid, namespace, object } = read.data.request;
  const placement = placementOf(namespace);
  if (placement === undefined) return allowed(uid, 'unchanged');
  try {
    const patch = podTerms(object, placement);
    if (patch.length === 0) return allowed(uid, 'unchanged');
    return allowed(uid, 'patched', { patchType: 'JSONPatch', patch: base64(patch) });
  } catch (error) {
    // As with the policy: failurePolicy Ignore. The API server refuses a pod of a wrong shape with a better message.
    const problem = error instanceof Error ? error.message : String(error);
    return { ...allowed(uid, 'failed'), problem };
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function base64(patch: unknown): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64');
}

function allowed(
  uid: string,
  result: ReviewAnswer['result'],
  patch: { patchType?: string; patch?: string } = {},
): ReviewAnswer {
  const review = { apiVersion: API_VERSION, kind: 'AdmissionReview', response: { uid, allowed: true, ...patch } };
  return { status: 200, result, text: JSON.stringify(review) };
}
