import type { LabelSelector, LabelSelectorRequirement } from '../../../../api/labelSelector.ts';

const KEY = '([A-Za-z0-9][-A-Za-z0-9_./]*)';
const IN_SET = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const EQUALITY = new RegExp(`^${KEY}\\s*(=|==|!=)\\s*([-A-Za-z0-9_.]*)$`);
const PRESENCE = new RegExp(`^(!?)\\s*${KEY}$`);
/** A comma that is not within the brackets of a set. */
const BETWEEN_REQUIREMENTS = /,(?![^(]*\))/;

/**
 * The LabelSelector of a selector text, as the field `status.selector` of a Scale has it: `app=web,tier in (a, b),!old`.
 * The grammar is the grammar of apimachinery's labels.Parse, without its numeric comparisons, which a LabelSelector cannot
 * express: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 *
 * @returns undefined for a text that is empty or not of this grammar: an empty selector would select every pod
 */
export function parseSelectorText(text: string): LabelSelector | undefined {
  const parts = text
    .split(BETWEEN_REQUIREMENTS)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const requirements = parts.map(requirementOf);
  if (requirements.length === 0) return undefined;
  const matchExpressions = requirements.filter((each) => each !== undefined);
  return matchExpressions.length === requirements.length ? { matchExpressions } : undefined;
}

function requirementOf(part: string): LabelSelectorRequirement | undefined {
  const [, key = '', operator, value = ''] = EQUALITY.exec(part) ?? IN_SET.exec(part) ?? [];
  if (operator === 'in' || operator === 'notin') {
    const values = value.split(',').map((each) => each.trim());
    return { key, operator: operator === 'in' ? 'In' : 'NotIn', values };
  }
  if (operator !== undefined) return { key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] };
  const [, not, present] = PRESENCE.exec(part) ?? [];
  if (present === undefined) return undefined;
  return { key: present, operator: not === '!' ? 'DoesNotExist' : 'Exists' };
}
