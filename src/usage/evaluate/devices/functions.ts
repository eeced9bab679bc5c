import type { DeviceFacts } from '../../series/nodeSamples.ts';
import { FUNCTION_DRIVERS, isPhysicalDriver } from './deviceKinds.ts';

/**
 * Names of a virtual function, or of its representor, after the name of the physical function. Source:
 * systemd.net-naming-scheme(7), and docs/networking/representors of Linux.
 *
 * | name                                         | device                                                         |
 * |----------------------------------------------|----------------------------------------------------------------|
 * | ens1f0v4, ens1f0np0v4, eth0v1, eth0vf1       | virtual function                                               |
 * | ens1f0s88                                    | sub-function                                                   |
 * | ens1f0r4, ens1f0_4, ens1f0npf0vf4            | representor of a virtual function or of a sub-function         |
 */
const FUNCTION_NAME = /^(.+?)(n?pf[0-9]+[vs]f[0-9]+|(?:_?vf?|_|r|s)[0-9]+)$/;
/** The ends of the first two rows. */
const OWN_TRAFFIC = /^(?:_?vf?|s)[0-9]+$/;
/** The port of a DPU (BlueField), as seen by its own cores. */
const DPU_PORT = /^p[0-9]+$/;
/**
 * Names of devices next to the port of a DPU: representors of the host, of virtual functions and of sub-functions (pf0hpf, pf0vf1,
 * en3f0pf0sf0), and sub-functions (enp3s0f0s0). Source: https://github.com/MrBr-github/lshca/issues/62
 */
const DPU_FUNCTION = /(?:pf[0-9]+(?:hpf|[vs]f[0-9]+)|f[0-9]+s[0-9]+)$/;
/** The standby of a failover device, after the name of that device: ens10nsby. Source: docs/networking/net_failover of Linux. */
const STANDBY = 'nsby';
const BRIDGE_ON = /^br(.+)$/;
/** Antrea appends this to the name of a NIC whose name its bridge takes (connectUplinkToBridge): eth0~. */
const RENAMED = '~';
/**
 * The name of a port, which systemd appends to the physical function: ens1f0np0. Up to systemd 254 a virtual function
 * does not repeat it: ens1f0v4.
 */
const PORT = /(?<=[0-9])n[a-zA-Z0-9]+$/;

/** True for a failover device by its driver, or because its standby is on the same node. */
export function isFailover(name: string, { driver }: DeviceFacts, devices: ReadonlyMap<string, unknown>): boolean {
  return driver ? driver === 'net_failover' : devices.has(name + STANDBY);
}

/** A virtual function or a sub-function that does not count next to its physical function. */
export interface VirtualFunction {
  readonly name: string;
  /** The name of its physical function, or of a device that may be that, if only the drivers show it. */
  readonly physical: string;
  /** Set if only the drivers show it. */
  readonly byDriver?: true | undefined;
}

/** Finds devices of one node by the name of the device that they belong to. Reads all devices at most once, and only if a name may be such. */
export class Functions {
  readonly #devices: ReadonlyMap<string, DeviceFacts>;
  #names: ReadonlyMap<string, string> | undefined;
  #drivers: ReadonlyMap<string | undefined, string> | undefined;
  #isDpu: boolean | undefined;

  constructor(devices: ReadonlyMap<string, DeviceFacts>) {
    this.#devices = devices;
  }

  /** True if the device is a virtual function or its representor, and its physical function is on the same node. */
  has(name: string, facts: DeviceFacts): boolean {
    const [, parent] = FUNCTION_NAME.exec(name) ?? [];
    if (parent !== undefined && this.#deviceNamed(parent) !== undefined) return true;
    return (DPU_FUNCTION.test(name) && this.#hasDpuPort()) || this.#byDriver(facts) !== undefined;
  }

  /**
   * Describes a device that `has`. Undefined for a representor, and for a device next to the port of a DPU: their traffic may stay on the host.
   * A function sends its own traffic, which most drivers do not count for the physical function.
   */
  describe(name: string, facts: DeviceFacts): VirtualFunction | undefined {
    const [, parent = '', end = ''] = FUNCTION_NAME.exec(name) ?? [];
    const named = this.#deviceNamed(parent);
    if (named !== undefined) return OWN_TRAFFIC.test(end) ? { name, physical: named } : undefined;
    const physical = this.#byDriver(facts);
    return physical === undefined ? undefined : { name, physical, byDriver: true };
  }

  /** Returns the first device by name whose driver can be the physical function's for this device. */
  #byDriver({ driver }: DeviceFacts): string | undefined {
    const parents = FUNCTION_DRIVERS.get(driver ?? '');
    if (parents === undefined) return undefined;
    // Of several with one driver, the last entry counts.
    const sorted = (): [string, DeviceFacts][] => [...this.#devices].sort(([a], [b]) => (a < b ? 1 : -1));
    this.#drivers ??= new Map(sorted().map(([name, device]) => [device.driver, name]));
    return parents.map((parent) => this.#drivers?.get(parent)).find((name) => name !== undefined);
  }

  /** True for the standby of a failover device that is on the same node. */
  isStandby(name: string): boolean {
    return name.endsWith(STANDBY) && this.#devices.has(name.slice(0, -STANDBY.length));
  }

  /** True for a bridge with the name that OVN-Kubernetes gives the bridge on a NIC, breth0 on eth0, or Antrea: eth0 on eth0~. */
  isBridgeOnNic(name: string, { driver }: DeviceFacts): boolean {
    const nic = BRIDGE_ON.exec(name)?.[1];
    if (isPhysicalDriver(driver)) return false;
    return this.#devices.has(name + RENAMED) || (nic !== undefined && this.#devices.has(nic));
  }

  #hasDpuPort(): boolean {
    this.#isDpu ??= [...this.#devices.keys()].some((device) => DPU_PORT.test(device));
    return this.#isDpu;
  }

  /** Returns the name of the device with this name, or with this name followed by the name of a port. */
  #deviceNamed(name: string): string | undefined {
    if (this.#devices.has(name)) return name;
    this.#names ??= new Map(Array.from(this.#devices.keys(), (device) => [device.replace(PORT, ''), device]));
    return this.#names.get(name);
  }
}
