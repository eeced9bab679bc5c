import { defineCommand, type Command } from '../command.ts';
import { WEIGHTS_FLAGS } from './flags.ts';
import { specProblem } from './spec.ts';
import { runWeightsAlone } from './weights.ts';

/** `weights`: gives the DNS records of a cluster their weights, as k8s-traffic-controller. */
export const weights: Command = defineCommand<typeof WEIGHTS_FLAGS>({
  name: 'weights',
  flags: WEIGHTS_FLAGS,
  check: specProblem,
  run: runWeightsAlone,
});
