import { setFlagsFromString } from 'node:v8';
import { runAgent } from '../../connectivity/agent/agent.ts';
import { apiServerOf } from '../../connectivity/agent/targets/targets.ts';
import { levelOf } from '../../options/glogFlags.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { defineCommand, type Command } from '../command.ts';
import { CONNECTIVITY_AGENT_FLAGS } from './flags.ts';

/**
 * V8 then collects garbage before it lets the heap grow: 63 MiB in place of 67, for no CPU time that could be measured
 * (docs/performance.md). V8 reads this flag at each such decision, so that it may be set now; NODE_OPTIONS does not take it.
 */
const V8_FLAG = '--memory-saver-mode';

/** `connectivity-agent`: reports what the network of its node can reach. */
export const connectivityAgent: Command = defineCommand<typeof CONNECTIVITY_AGENT_FLAGS>({
  name: 'connectivity-agent',
  flags: CONNECTIVITY_AGENT_FLAGS,
  logLevel: levelOf,
  run(flags, { env, logger, signal }) {
    setFlagsFromString(V8_FLAG);
    const { MY_POD_NAME: podName = '', MY_NODE_NAME: nodeName = '' } = env;
    if (podName === '') throw new Error('MY_POD_NAME is not set: must be the name of the pod');
    if (nodeName === '') logger.warn('MY_NODE_NAME is not set: the server looks the node up by the pod');
    const { serverendpoint: server, probeurls: probeUrls, reportinterval, zeroextenderlength } = flags;
    const { peerPort, allowTargetCidr: allowedTargets, serverCaFile, tokenFile, apiCaFile } = flags;
    if (tokenFile !== undefined && serverCaFile === undefined) {
      logger.warn('--token-file without --server-ca-file: the token is sent without TLS');
    }
    const identity = { podName, nodeName, intervalSeconds: reportinterval, zeros: zeroextenderlength };
    // As the original server tells the planes apart.
    const plane = flags.plane ?? (podName.includes('hostnet') ? 'Host' : 'Pod');
    const apiServer = apiServerOf(env);
    const files = { serverCaFile, tokenFile, apiCaFile };
    const own = {
      identity,
      server,
      probeUrls,
      allowedTargets,
      plane,
      peerPort,
      apiServer,
      ...files,
      clock: systemClock,
      logger,
    };
    return runAgent(own, signal);
  },
});
