import * as z from 'zod';

/** The values of spec.placement. */
export const PLACEMENTS = ['Required', 'Preferred', 'AtCreation'] as const;

/**
 * How the workload's pods are kept off unfit nodes: by a required or a preferred node affinity to the label, or by a
 * required one to the names of the nodes that are unfit when the pod is created.
 */
export type Placement = (typeof PLACEMENTS)[number];

/** The schema has no default, so that an object without the field, and its Deployment, stay unchanged. */
export const placementSchema = z
  .enum(PLACEMENTS)
  .optional()
  .meta({
    description:
      'How pods are kept off unfit nodes. Running pods stay where they are while the kubelet runs. Required (the ' +
      'default with deployment) adds a required node affinity: the scheduler places no pod on an unfit node. A kubelet that restarts ' +
      'on an unfit node rejects the pods that run there, and these pods fail. To avoid this, move pods before ' +
      'maintenance (kubectl drain) or use Preferred. Preferred (the default with targetRef and podSelector) adds a ' +
      'preferred node affinity of weight 100: a ' +
      'restarted kubelet rejects no pod, but the scheduler may choose an unfit node, for example when no other node ' +
      'has room. AtCreation (not with deployment) excludes the nodes that are unfit when the pod is created, by their ' +
      'names, and prefers fit nodes: the scheduler places no pod on a node that was unfit then, and a restarted ' +
      'kubelet rejects none. A pod that is still Pending may go to such a node when it is fit again. Changing this field rolls the Deployment once; with targetRef and podSelector it applies to new pods.',
  });

/**
 * The placement of the spec. Without one: Required with `deployment`, as in PKopel/traffic-operator; Preferred for
 * workloads of others, since a restarted kubelet rejects pods whose required affinity no longer holds.
 */
export function placementOf(spec: {
  readonly placement?: Placement | undefined;
  readonly deployment?: unknown;
}): Placement {
  return spec.placement ?? (spec.deployment === undefined ? 'Preferred' : 'Required');
}

/** Whether pods can stay Pending because nodes are unfit. */
export function isStrict(spec: Parameters<typeof placementOf>[0]): boolean {
  return placementOf(spec) !== 'Preferred';
}
