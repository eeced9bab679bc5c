import { GROUP } from '../trafficwatch/schema.ts';

/** The name of the webhook that adds the node affinity to pods, in whichever configuration it is. */
export const PLACEMENT_WEBHOOK = `pods.placement.${GROUP}`;
