import type { V1PodSpec } from '@kubernetes/client-node';
import { PEER_PORT, PEER_PORT_NAME } from '../../objects/names.ts';

/** The flag of `connectivity-agent`, with one dash or two; the value comes after `=`, or as the next argument. */
const FLAG = /^--?peer-port(?:=(.*))?$/;
/** The same as an environment variable. The flag takes precedence. */
const VARIABLE = 'TRAFFIC_OPERATOR_PEER_PORT';

/**
 * The port on which the agent of a pod answers peers, as the pod states it. The first row that applies counts:
 *
 * | containers of the pod | port |
 * |---|---|
 * | the flag --peer-port in command or args; the last one counts | its value |
 * | the variable TRAFFIC_OPERATOR_PEER_PORT | its value |
 * | a TCP port with the name `peer` | that port |
 * | flag or variable whose value is only known in the pod, such as `$(PORT)` | undefined |
 * | else | 8082, the default of the flag |
 *
 * A variable of a ConfigMap (`envFrom`) is not seen here. The port that an agent reports takes precedence over this one.
 */
export function peerPortOf(spec: Pick<V1PodSpec, 'containers'> | undefined): number | undefined {
  const containers = spec?.containers ?? [];
  const args = containers.flatMap(({ command = [], args: own = [] }) => [...command, ...own]);
  const variable = containers.flatMap(({ env = [] }) => env).find(({ name }) => name === VARIABLE);
  const stated = flagValue(args) ?? (variable === undefined ? undefined : (variable.value ?? ''));
  const port = stated === undefined ? undefined : portOf(stated);
  const named = containers
    .flatMap(({ ports = [] }) => ports)
    .find(({ name, protocol = 'TCP' }) => name === PEER_PORT_NAME && protocol === 'TCP');
  return port ?? named?.containerPort ?? (stated === undefined ? PEER_PORT : undefined);
}

/** Returns the value of the flag; '' if it has none. Undefined without the flag. */
function flagValue(args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => FLAG.test(arg));
  if (at === -1) return undefined;
  return FLAG.exec(args[at] ?? '')?.[1] ?? args[at + 1] ?? '';
}

function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}
