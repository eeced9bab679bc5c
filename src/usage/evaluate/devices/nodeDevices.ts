import type { DeviceChoice } from './devices.ts';
import type { VirtualFunction } from './functions.ts';

/** The properties of a device that its facts do not show. Absent if they show all. */
export interface Unclear {
  /** The flags are missing: it may be the slave of a bond. */
  readonly mayBeSlave?: true | undefined;
  /** It is no bond, but can have a slave: the synthetic device of Azure. */
  readonly hasSlave?: true | undefined;
  /** It is a failover device, which repeats the traffic of its slaves, and no flag shows these. */
  readonly isFailover?: true | undefined;
  /** The missing series that would show whether it is a NIC. */
  readonly lacks?: readonly string[] | undefined;
  /** It may be the bridge that has the name of the NIC: it has no driver and no speed. */
  readonly mayBeBridge?: true | undefined;
}

/** A device that counts, without its rate. */
export interface CountedDevice {
  readonly name: string;
  /** Bytes per second. NaN if the sample is not a number, undefined if there is no sample. */
  readonly speed: number | undefined;
  /** Message about an invalid counter. */
  readonly invalid: string | undefined;
  /** Set if the driver belongs to a NIC or a bond. Other facts can be of another network than the counter, see `podNetwork`. */
  readonly isNic?: true | undefined;
  /** Set for a bond. Its speed is the speed of its active slaves. */
  readonly isBond?: true | undefined;
  /** Set for a device that is switched off. A missing fact proves nothing. */
  readonly isOff?: true | undefined;
  /** The properties that its facts do not show. Absent if they show all. */
  readonly unclear?: Unclear | undefined;
}

/** The devices of a node. Nodes with equal devices share one object. */
export interface NodeDevices extends Pick<DeviceChoice, 'excluded' | 'ambiguousUplinks'> {
  /** Sorted by name. */
  readonly counted: readonly CountedDevice[];
  /** Their names. */
  readonly names: readonly string[];
  /** Set if the exporter reports no driver at all: then only names, links and flags identify virtual devices. */
  readonly lacksDrivers: true | undefined;
  /** NICs and bonds whose counter is missing, sorted by name. Absent if there is none. */
  readonly withoutCounter?: readonly Pick<CountedDevice, 'name' | 'speed'>[] | undefined;
  /** Virtual functions that do not count, with the speed of the physical function or, if it has none, their own. Absent if there is none. */
  readonly functions?: readonly (VirtualFunction & Pick<CountedDevice, 'speed'>)[] | undefined;
  /** Message about missing facts, without which devices may count twice. Undefined if none matters. */
  readonly doubt?: string | undefined;
}
