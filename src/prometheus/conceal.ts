const CENSOR = '[redacted]';

/**
 * Takes secrets out of a text that somebody else wrote, as they are or encoded for a URL, and whatever white space they
 * were given on the way. To be done before a text is cut, which could leave a part of one.
 */
export function conceal(text: string, secrets: readonly string[]): string {
  // One secret may hold another.
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, secret) => rest.replaceAll(formsOf(secret), CENSOR), text);
}

function formsOf(secret: string): RegExp {
  const spaced = secret
    .trim()
    .split(/\s+/)
    .map(literally)
    .join(String.raw`\s+`);
  return new RegExp(`${spaced}|${literally(encodeURIComponent(secret))}`, 'g');
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
