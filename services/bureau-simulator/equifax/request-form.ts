/** The form of Equifax Canada's request, as far as it is publicly known. */
import { attributeOf, type XmlElement } from '../xml-document.ts';

interface ElementForm {
  /** What it may contain, and how often; any elements when left out together with `text`. */
  children?: Readonly<Record<string, Occurrence>>;
  /** The text of an element without children. */
  text?: RegExp;
  /** Its one attribute. */
  attribute?: readonly [name: string, value: RegExp];
}

type Occurrence = readonly [form: ElementForm, times: 'once' | 'optional' | 'any'];

const once = (form: ElementForm): Occurrence => [form, 'once'];
const optional = (form: ElementForm): Occurrence => [form, 'optional'];
const several = (form: ElementForm): Occurrence => [form, 'any'];

const TEXT = once({ text: /./ });
const OPTIONAL_TEXT = optional({ text: /./ });

const SUBJECT: ElementForm = {
  attribute: ['subjectType', /^SUBJ$/],
  children: {
    SubjectName: once({
      children: { LastName: TEXT, FirstName: TEXT, MiddleName: OPTIONAL_TEXT },
    }),
    SocialInsuranceNumber: optional({ text: /^\d{9}$/ }),
    DateOfBirth: once({ text: /^\d{4}-\d{2}-\d{2}$/ }),
    Occupation: OPTIONAL_TEXT,
  },
};

const ADDRESS: ElementForm = {
  attribute: ['addressType', /^(CURR|FORM)$/],
  children: {
    CivicNumber: OPTIONAL_TEXT,
    StreetName: OPTIONAL_TEXT,
    Suite: OPTIONAL_TEXT,
    City: TEXT,
    Province: once({ attribute: ['code', /./], children: {} }),
    PostalCode: optional({ text: /^[A-Z]\d[A-Z]\d[A-Z]\d$/ }),
  },
};

const REQUEST: ElementForm = {
  children: {
    CNCustomerInfo: once({
      children: {
        CustomerCode: once({ text: /^[A-Z]\d{3}$/ }),
        CustomerInfo: once({
          children: { CustomerNumber: once({ text: /^\d{3}[A-Z]{2}\d{5}$/ }), SecurityCode: TEXT },
        }),
      },
    }),
    CNRequests: once({
      children: {
        CNConsumerRequests: once({
          children: {
            CNConsumerRequest: once({
              children: {
                Subjects: once({
                  children: {
                    Subject: once(SUBJECT),
                    Addresses: once({ children: { Address: several(ADDRESS) } }),
                  },
                }),
                CustomerReferenceNumber: OPTIONAL_TEXT,
                ECOAInquiryType: once({ text: /^I$/ }),
                JointAccessIndicator: once({ text: /^N$/ }),
              },
            }),
          },
        }),
        // Language, format and products: what they contain is not publicly known.
        CNOutputParameters: optional({}),
        CNScoringProducts: optional({}),
      },
    }),
  },
};

/** The name of an element that the request lacks, has too often, in a wrong form or in a wrong place; undefined for a right request. */
export function findFault(request: XmlElement): string | undefined {
  return faultIn(request, REQUEST);
}

function faultIn(element: XmlElement, form: ElementForm): string | undefined {
  const { children, text, attribute } = form;
  if (attribute !== undefined && !attribute[1].test(attributeOf(element, attribute[0]))) {
    return element.name;
  }
  if (text !== undefined) {
    return element.children.length === 0 && text.test(element.text) ? undefined : element.name;
  }
  if (children === undefined) return undefined;
  const misplaced = element.children.find(({ name }) => !Object.hasOwn(children, name));
  if (misplaced !== undefined) return misplaced.name;
  for (const [name, [childForm, times]] of Object.entries(children)) {
    const found = element.children.filter((it) => it.name === name);
    if (times === 'once' ? found.length !== 1 : times === 'optional' && found.length > 1)
      return name;
    const fault = found.map((it) => faultIn(it, childForm)).find((it) => it !== undefined);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
