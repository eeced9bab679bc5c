import { processFlagProblem } from '../../controllers/contract/flags.ts';
import { defineCommand, type Command } from '../command.ts';
import { TRAFFIC_WEIGHTS_FLAGS } from './flags.ts';
import { runTrafficWeights } from './trafficWeights.ts';

/** `trafficweights`: gives the DNS records of a cluster their weights, as its TrafficWeights ask for. */
export const trafficWeights: Command = defineCommand<typeof TRAFFIC_WEIGHTS_FLAGS>({
  name: 'trafficweights',
  flags: TRAFFIC_WEIGHTS_FLAGS,
  check: processFlagProblem,
  run: runTrafficWeights,
});
