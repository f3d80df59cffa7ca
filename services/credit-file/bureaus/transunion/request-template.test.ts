import { create } from '@bufbuild/protobuf';
import { TransUnionCredentialsSchema } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { expect, test } from 'vitest';
import { findElement } from '../answer/find-element.ts';
import { parseXml, XmlError } from '../answer/xml-document.ts';
import { FORMATS, INQUIRY, TEMPLATE, TRANSUNION_OPTIONS } from '../test-formats.ts';
import { compileTemplate, RequestTemplateError } from './request-template.ts';
import { transUnionFormat } from './transunion-format.ts';

const CREDENTIALS = create(TransUnionCredentialsSchema, {
  memberCode: '1234FA00001',
  password: 'a<b&"c\'$&]]>',
  baseUrl: 'https://tu.example/',
});

test('a request is the template with the values of the inquiry', () => {
  const request = FORMATS.transunion.makeRequest(INQUIRY, CREDENTIALS);
  expect(request).toMatchObject({
    url: 'https://tu.example/',
    headers: { 'content-type': 'text/xml; charset=utf-8' },
  });
  const root = parseXml(request.body);
  const read = (name: string) => findElement(root, name)?.text;
  expect(read('Member')).toBe(CREDENTIALS.memberCode);
  expect(read('Password')).toBe(CREDENTIALS.password);
  expect(read('Name')).toBe(`${INQUIRY.subject.firstName} ${INQUIRY.subject.lastName}`);
  expect(read('Born')).toBe('1976-02-29');
  expect(read('Street')).toBe('12 Main St');
});

test('every placeholder has its value', () => {
  const names = [
    ...['reference', 'memberCode', 'password', 'firstName', 'lastName', 'sin', 'dateOfBirth'],
    ...['dateOfBirthDigits', 'occupation', 'streetNo', 'streetName', 'city', 'province'],
    ...['postalCode', 'product', 'certificate'],
  ];
  const template = `<r>${names.map((name) => `<${name}>{{ ${name} }}</${name}>`).join('')}</r>`;
  const options = {
    ...TRANSUNION_OPTIONS,
    requestTemplate: template,
    product: '07000',
    certificate: 'C1',
  };
  const format = transUnionFormat({ ...options, soapAction: 'urn:x' });
  const request = format.makeRequest(INQUIRY, CREDENTIALS);
  const values = parseXml(request.body).children.map(({ name, text }) => `${name}: ${text}`);
  expect(values).toMatchInlineSnapshot(`
    [
      "reference: b1",
      "memberCode: 1234FA00001",
      "password: a<b&"c'$&]]>",
      "firstName: Zoë",
      "lastName: O'Neil & <Sons>",
      "sin: 046454286",
      "dateOfBirth: 1976-02-29",
      "dateOfBirthDigits: 19760229",
      "occupation: Baker",
      "streetNo: 12",
      "streetName: Main St",
      "city: Ottawa",
      "province: ON",
      "postalCode: K1A0B1",
      "product: 07000",
      "certificate: C1",
    ]
  `);
  expect(request.headers).toMatchObject({ soapaction: '"urn:x"' });
});

test('an unknown SIN and an unknown address are empty', () => {
  const { sin: _sin, ...subject } = INQUIRY.subject;
  const inquiry = { ...INQUIRY, subject: { ...subject, addresses: [] } };
  const format = transUnionFormat({
    ...TRANSUNION_OPTIONS,
    requestTemplate: `${TEMPLATE.slice(0, -14)}<S>{{sin}}</S></REL4Request>`,
  });
  const { body } = format.makeRequest(inquiry, CREDENTIALS);
  expect(body).toContain('<S></S>');
  expect(body).toContain('<Street> </Street>');
});

test.each([
  ['', 'there is none'],
  ['  \n', 'there is none'],
  [TEMPLATE.replace('{{lastName}}', '{{lastname}}'), '{{lastname}} is no placeholder'],
  [TEMPLATE.replace('{{password}}', ''), '{{password}} is missing'],
  [TEMPLATE.replace('{{dateOfBirth}}', ''), '{{dateOfBirth}} or {{dateOfBirthDigits}} is missing'],
  [TEMPLATE.replace('<Born>', '<Born>{{'), 'a {{ or }} has no counterpart'],
])('the template %s is refused: %s', (template, problem) => {
  expect(() => compileTemplate(template)).toThrow(RequestTemplateError);
  expect(() => compileTemplate(template)).toThrow(`the request template of TransUnion: ${problem}`);
});

test.each([
  [TEMPLATE.replace('</Born>', ''), 'is not well-formed'],
  [`<!DOCTYPE a>${TEMPLATE}`, 'has a document type'],
])('the template %s is refused, because it %s', (template, problem) => {
  expect(() => compileTemplate(template)).toThrow(XmlError);
  expect(() => compileTemplate(template)).toThrow(problem);
});
