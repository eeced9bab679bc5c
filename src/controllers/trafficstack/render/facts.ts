import type { StackService, WorkloadComponent } from '../../../api/trafficstack/trafficStack.ts';

/** Facts about a component for files and expressions: `self`, and `components.NAME`. */
export interface ComponentFacts {
  readonly name: string;
  readonly namespace: string;
  /** The number of pods. Absent for a DaemonSet, and where an autoscaler decides. */
  readonly replicas?: number;
  /** DNS name of the Service of `addresses`. Absent without a Service. */
  readonly service?: string;
  /**
   * DNS names of the pods for a StatefulSet with a headless Service, otherwise of the first Service. IP addresses would change
   * with each pod.
   */
  readonly addresses: readonly string[];
  /** The first port behind `addresses`. Absent without a Service. */
  readonly port?: number;
  /** The ports of all Services by their names. */
  readonly ports: Readonly<Record<string, number>>;
}

/** Returns the facts of a component. @param replicas undefined for a DaemonSet, and where an autoscaler decides */
export function factsOf({ name, workload }: WorkloadComponent, replicas: number | undefined): ComponentFacts {
  const { namespace, services = [] } = workload;
  const host = (service: StackService): string => `${serviceNameOf({ name, workload }, service)}.${namespace}.svc`;
  const governing = workload.kind === 'StatefulSet' ? services.find(({ headless }) => headless === true) : undefined;
  const first = governing ?? services[0];
  // If Services share the name of a port, the Service of the addresses has precedence.
  const named = [...services.filter((service) => service !== first), ...(first ? [first] : [])].flatMap((service) =>
    service.ports.flatMap((port) => (port.name === undefined ? [] : [[port.name, portOf(service, port)] as const])),
  );
  return {
    ...{ name, namespace },
    ...(replicas !== undefined && { replicas }),
    ...(first !== undefined && { service: host(first) }),
    addresses: addressesOf(workload.name ?? name, {
      replicas,
      governing: governing && host(governing),
      first: first && host(first),
    }),
    ...(first?.ports[0] !== undefined && { port: portOf(first, first.ports[0]) }),
    ports: Object.fromEntries(named),
  };
}

/** Returns the name of a Service. */
export function serviceNameOf(
  { name, workload }: Pick<WorkloadComponent, 'name' | 'workload'>,
  service: StackService,
): string {
  return service.name ?? workload.name ?? name;
}

interface Hosts {
  readonly replicas: number | undefined;
  readonly governing: string | undefined;
  readonly first: string | undefined;
}

function addressesOf(workload: string, { replicas, governing, first }: Hosts): readonly string[] {
  if (governing !== undefined && replicas !== undefined) {
    return Array.from({ length: replicas }, (_, ordinal) => `${workload}-${ordinal}.${governing}`);
  }
  return first === undefined ? [] : [first];
}

/** Returns the port that clients use. A headless Service does not translate ports. */
function portOf({ headless }: StackService, { port, targetPort = port }: StackService['ports'][number]): number {
  return headless === true ? targetPort : port;
}
