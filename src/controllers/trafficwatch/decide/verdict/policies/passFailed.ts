import { unknown } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';

/** Unknown with the error of the newest pass, when that pass failed: it says nothing of any node. */
export const passFailed: Policy = ({ passError }) => passError && unknown(passError.reason, passError.message);
