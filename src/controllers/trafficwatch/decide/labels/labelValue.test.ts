import { describe, expect, it } from 'vitest';
import { labelValueOf, sideOfLabel } from './labelValue.ts';

describe('labelValueOf', () => {
  it('says true of a node above the threshold, and is read back as the same side', () => {
    expect([labelValueOf('above'), labelValueOf('notAbove')]).toEqual(['true', 'false']);
    expect(sideOfLabel(labelValueOf('above'))).toBe('above');
    expect(sideOfLabel(labelValueOf('notAbove'))).toBe('notAbove');
  });
});

describe('sideOfLabel', () => {
  it('takes an odd value for none, so that it is decided anew', () => {
    const read = ['true', 'false', 'yes', 'True', '', undefined].map(sideOfLabel);
    expect(read).toEqual(['above', 'notAbove', undefined, undefined, undefined, undefined]);
  });
});
