import type { ControllerModule } from './contract/module.ts';
import { measurement } from './measurement/module.ts';
import { trafficWatch } from './trafficwatch/module.ts';

/**
 * Every controller of the operator. They are made in this order and cleaned up in the opposite one: the figures outlast
 * what is decided by them.
 */
export const CONTROLLERS: readonly ControllerModule[] = [measurement, trafficWatch];
