import * as z from 'zod';

const PLACEMENTS = ['Required', 'Preferred'] as const;

/** How the workload's pods are kept off unfit nodes: by required or by preferred node affinity. */
export type Placement = (typeof PLACEMENTS)[number];

/** No default in the schema: an object without the field stays as it is, and so does its Deployment. */
export const placementSchema = z
  .enum(PLACEMENTS)
  .optional()
  .meta({
    description:
      'How pods are kept off unfit nodes. Running pods are not moved, as long as the kubelet runs. Required (the ' +
      'default) adds a required node affinity: no pod is scheduled to an unfit node, but a kubelet that restarts on ' +
      'an unfit node rejects the pods that run there, and they fail. Move pods before maintenance (kubectl drain), ' +
      'or use Preferred. Preferred adds a preferred node affinity of weight 100: a kubelet that restarts rejects no ' +
      'pod, but the scheduler may choose an unfit node, such as where no other node has room. Changing this field ' +
      'rolls the Deployment once.',
  });

/** How the pods are kept off unfit nodes; Required where the spec does not say, as in PKopel/traffic-operator. */
export function placementOf(spec: { readonly placement?: Placement | undefined }): Placement {
  return spec.placement ?? 'Required';
}
