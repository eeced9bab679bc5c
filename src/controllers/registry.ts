import { connectivity } from './connectivity/module.ts';
import { connectivityCheck } from './connectivitycheck/module.ts';
import type { ControllerModule } from './contract/module.ts';
import { measurement } from './measurement/module.ts';
import { trafficStack } from './trafficstack/module.ts';
import { trafficWatch } from './trafficwatch/module.ts';
import { trafficWeight } from './trafficweight/module.ts';

/**
 * Every controller of the operator. They are created in this order and cleaned up in reverse order, so that the
 * measurement is removed after the decisions that depend on it.
 */
export const CONTROLLERS: readonly ControllerModule[] = [
  measurement,
  connectivity,
  trafficWatch,
  connectivityCheck,
  trafficWeight,
  trafficStack,
];
