/** The first key that occurs twice in one object of a JSON text (`JSON.parse` silently keeps the last); undefined: none. The text must be valid JSON. */
export function duplicateKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '{' || c === '[') open.push(new Set());
    else if (c === '}' || c === ']') open.pop();
    else if (c === '"') {
      const start = i++;
      while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
      let next = i + 1;
      while (' \t\n\r'.includes(text[next]!)) next++;
      if (text[next] !== ':') continue;
      const key = JSON.parse(text.slice(start, i + 1)) as string;
      const keys = open.at(-1)!;
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}
