import { runAgent } from '../../connectivity/agent/agent.ts';
import { levelOf } from '../../options/glogFlags.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { defineCommand, type Command } from '../command.ts';
import { CONNECTIVITY_AGENT_FLAGS } from './flags.ts';

/** `connectivity-agent`: reports what the network of its node can reach. */
export const connectivityAgent: Command = defineCommand<typeof CONNECTIVITY_AGENT_FLAGS>({
  name: 'connectivity-agent',
  flags: CONNECTIVITY_AGENT_FLAGS,
  logLevel: levelOf,
  run(flags, { env, logger, signal }) {
    const { MY_POD_NAME: podName = '', MY_NODE_NAME: nodeName = '' } = env;
    if (podName === '') throw new Error('MY_POD_NAME is not set: must be the name of the pod');
    if (nodeName === '') logger.warn('MY_NODE_NAME is not set: the server looks the node up by the pod');
    const { serverendpoint: server, probeurls, reportinterval, zeroextenderlength } = flags;
    const identity = { podName, nodeName, intervalSeconds: reportinterval, zeros: zeroextenderlength };
    return runAgent({ identity, server, probeUrls: probeurls, clock: systemClock, logger }, signal);
  },
});
