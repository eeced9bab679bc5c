import * as z from 'zod';

const PLACEMENTS = ['Required', 'Preferred'] as const;

/** How the workload's pods are kept off unfit nodes: by required or by preferred node affinity. */
export type Placement = (typeof PLACEMENTS)[number];

/** The schema has no default, so that an object without the field, and its Deployment, stay unchanged. */
export const placementSchema = z
  .enum(PLACEMENTS)
  .optional()
  .meta({
    description:
      'How pods are kept off unfit nodes. Running pods stay where they are while the kubelet runs. Required (the ' +
      'default) adds a required node affinity: the scheduler places no pod on an unfit node. A kubelet that restarts ' +
      'on an unfit node rejects the pods that run there, and these pods fail. To avoid this, move pods before ' +
      'maintenance (kubectl drain) or use Preferred. Preferred adds a preferred node affinity of weight 100: a ' +
      'restarted kubelet rejects no pod, but the scheduler may choose an unfit node, for example when no other node ' +
      'has room. Changing this field rolls the Deployment once.',
  });

/** The placement of the spec; Required if the spec has none, as in PKopel/traffic-operator. */
export function placementOf(spec: { readonly placement?: Placement | undefined }): Placement {
  return spec.placement ?? 'Required';
}
