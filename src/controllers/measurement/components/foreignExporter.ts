import type { V1Container, V1DaemonSet } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS } from '../../../runtime/client/resources.ts';
import type { StandIn } from '../../contract/builtIn.ts';

/** Arguments of kube-rbac-proxy, and of a node_exporter that serves HTTPS or asks for a password. */
const SECURED = /^--(secure-listen-address|web\.config\.file)\b/;
/** `node-exporter`, and `node_exporter` of older images, in any registry. */
const IMAGE = /(^|\/)[^/]*node[-_]exporter[^/]*$/;
/** Where a node_exporter listens; not where only its own node reaches it, as behind kube-rbac-proxy. */
const LISTENS = /^--web\.listen-address=(?!127\.|localhost|\[::1\]).*:(\d+)$/;

/**
 * The node-exporter of somebody else: a DaemonSet whose pods have the network of their nodes and listen on the port. It is recognized by the port, since
 * that is what keeps another one from starting. Beside a Prometheus of somebody else, which scrapes it already, also by its image: it may have any port.
 *
 * @param isScraped whether a Prometheus of the operator has to scrape it: that one has no token, and speaks plain HTTP
 */
export function foreignExporter(port: number, isScraped: boolean): StandIn {
  return {
    resource: DAEMONSETS,
    sought: `a DaemonSet with hostNetwork and the port ${port}`,
    matches: (live, used) => listenerOf(live, port) !== undefined || (used.has('Prometheus') && hasImage(live)),
    problem(live, used) {
      const listener = listenerOf(live, port);
      const isOurs = isScraped && !used.has('Prometheus');
      return isOurs && listener !== undefined && isSecured(listener, port) ? unusable(port) : undefined;
    },
  };
}

function hasImage({ spec }: V1DaemonSet): boolean {
  const { hostNetwork, containers = [] } = spec?.template.spec ?? {};
  return hostNetwork === true && containers.some(({ image = '' }) => IMAGE.test(image));
}

/** The container that listens on a port of the nodes. */
function listenerOf(live: KubeObject, port: number): V1Container | undefined {
  const pod = (live as V1DaemonSet).spec?.template.spec;
  return pod?.hostNetwork === true ? pod.containers.find((each) => listensOn(each, port)) : undefined;
}

/** A port need not be declared: with hostNetwork, it is open without that. */
function listensOn(container: V1Container, port: number): boolean {
  return (
    portsOf(container, port).length > 0 || wordsOf(container).some((word) => LISTENS.exec(word)?.[1] === `${port}`)
  );
}

function wordsOf({ command = [], args = [] }: V1Container): string[] {
  return [...command, ...args];
}

function portsOf({ ports = [] }: V1Container, port: number) {
  return ports.filter(
    ({ containerPort, hostPort, protocol = 'TCP' }) =>
      protocol === 'TCP' && (containerPort === port || hostPort === port),
  );
}

function isSecured(container: V1Container, port: number): boolean {
  const isHttps = portsOf(container, port).some(({ name }) => name === 'https');
  return isHttps || wordsOf(container).some((word) => SECURED.test(word));
}

function unusable(port: number): string {
  return `serves the port ${port} over HTTPS or to clients with a token alone, so the Prometheus of the operator cannot scrape it: set another nodeExporter.port with the mode Managed, or query a Prometheus that scrapes it, with --prometheus-url (prometheus.url in the chart)`;
}
