import type { DeviceFacts } from '../../series/deviceFacts.ts';
import { FUNCTION_DRIVERS, isPhysicalDriver } from './drivers.ts';

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
const FUNCTION_NAME = /^(.+?)(?:n?pf[0-9]+[vs]f[0-9]+|(?:_?vf?|_|r|s)[0-9]+)$/;
/** The port of a DPU (BlueField), as seen by its own cores. */
const DPU_PORT = /^p[0-9]+$/;
/**
 * What is beside the port of a DPU: representors of the host, of virtual functions and of sub-functions (pf0hpf, pf0vf1, en3f0pf0sf0), and
 * sub-functions (enp3s0f0s0). Source: https://github.com/MrBr-github/lshca/issues/62
 */
const DPU_FUNCTION = /(?:pf[0-9]+(?:hpf|[vs]f[0-9]+)|f[0-9]+s[0-9]+)$/;
const BRIDGE_ON = /^br(.+)$/;
/**
 * The name of a port, which systemd appends to the physical function: ens1f0np0. Up to systemd 254 a virtual function
 * does not repeat it: ens1f0v4.
 */
const PORT = /(?<=[0-9])n[a-zA-Z0-9]+$/;

/** Finds devices of one node by the name of the device that they belong to. Reads all devices at most once, and only if a name may be such. */
export class Functions {
  readonly #devices: ReadonlyMap<string, DeviceFacts>;
  #names: ReadonlySet<string> | undefined;
  #drivers: ReadonlySet<string | undefined> | undefined;
  #isDpu: boolean | undefined;

  constructor(devices: ReadonlyMap<string, DeviceFacts>) {
    this.#devices = devices;
  }

  /** True if the device is a virtual function or its representor, and its physical function is on the same node. */
  has(name: string, { driver }: DeviceFacts): boolean {
    const [, parent] = FUNCTION_NAME.exec(name) ?? [];
    if (parent !== undefined && this.#isDevice(parent)) return true;
    if (DPU_FUNCTION.test(name) && this.#hasDpuPort()) return true;
    const parents = FUNCTION_DRIVERS.get(driver ?? '');
    if (parents === undefined) return false;
    this.#drivers ??= new Set(Array.from(this.#devices.values(), (device) => device.driver));
    return parents.some((parent) => this.#drivers?.has(parent));
  }

  /** True for a bridge with the name that OVN-Kubernetes gives the bridge on a NIC: breth0 on eth0. */
  isBridgeOnNic(name: string, { driver }: DeviceFacts): boolean {
    const nic = BRIDGE_ON.exec(name)?.[1];
    return nic !== undefined && !isPhysicalDriver(driver) && this.#devices.has(nic);
  }

  #hasDpuPort(): boolean {
    this.#isDpu ??= [...this.#devices.keys()].some((device) => DPU_PORT.test(device));
    return this.#isDpu;
  }

  #isDevice(name: string): boolean {
    if (this.#devices.has(name)) return true;
    this.#names ??= new Set(Array.from(this.#devices.keys(), (device) => device.replace(PORT, '')));
    return this.#names.has(name);
  }
}
