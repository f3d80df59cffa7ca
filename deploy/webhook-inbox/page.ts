// The page of the webhook inbox: one file, whose policy allows only its own script and style.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';

export interface Page {
  answer(response: ServerResponse): void;
}

/** Reads the page once, for all requests. */
export async function openPage(): Promise<Page> {
  const html = await readFile(new URL('page.html', import.meta.url), 'utf8');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf('script', html)}`,
    `style-src ${hashOf('style', html)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
  };
  return { answer: (response) => void response.writeHead(200, headers).end(html) };
}

/** The hash by which the policy allows the page's script or style. */
function hashOf(element: 'script' | 'style', html: string): string {
  const [, content = ''] = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(html) ?? [];
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}
