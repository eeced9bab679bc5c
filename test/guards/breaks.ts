import type { Break } from './break.ts';
import { CONNECTIVITY } from './breaks/connectivity.ts';
import { DEVICES } from './breaks/devices.ts';
import { LABEL_KEYS } from './breaks/labelKeys.ts';
import { MEASUREMENT } from './breaks/measurement.ts';
import { PLACEMENT } from './breaks/placement.ts';
import { RUNTIME } from './breaks/runtime.ts';
import { STACKS } from './breaks/stacks.ts';
import { TENANTS } from './breaks/tenants.ts';
import { WEIGHTS } from './breaks/weights.ts';

/** Breaks of one part of the product. */
export interface Area {
  readonly title: string;
  readonly breaks: readonly Break[];
}

export const AREAS: readonly Area[] = [
  { title: 'API server, leader, installation', breaks: RUNTIME },
  { title: 'Devices of a node', breaks: DEVICES },
  { title: 'Measurement and TrafficWatch', breaks: MEASUREMENT },
  { title: 'Label keys', breaks: LABEL_KEYS },
  { title: 'Placement of pods', breaks: PLACEMENT },
  { title: 'What one namespace costs others', breaks: TENANTS },
  { title: 'Connectivity check', breaks: CONNECTIVITY },
  { title: 'DNS weights', breaks: WEIGHTS },
  { title: 'Stacks', breaks: STACKS },
];

export const BREAKS: readonly Break[] = AREAS.flatMap(({ breaks }) => breaks);
