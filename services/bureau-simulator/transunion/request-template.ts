/**
 * The request to TransUnion Canada that the simulator reads, as a template with the placeholders of the
 * credit-file service. The real request is known to subscribers only: this one is made up for the sandbox.
 */
export const REQUEST_TEMPLATE = `<?xml version="1.0" encoding="UTF-8"?>
<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">
  <soap:Body>
    <ProcessRequestXML xmlns="http://www.transunion.ca/WS/TU4R">
      <Request>
        <MemberCode>{{memberCode}}</MemberCode>
        <Password>{{password}}</Password>
        <UserReference>{{reference}}</UserReference>
        <Subject>
          <LastName>{{lastName}}</LastName>
          <FirstName>{{firstName}}</FirstName>
          <SIN>{{sin}}</SIN>
          <DOB>{{dateOfBirth}}</DOB>
          <Address>
            <Unit>{{suite}}</Unit>
            <StreetNumber>{{streetNo}}</StreetNumber>
            <StreetName>{{streetName}}</StreetName>
            <City>{{city}}</City>
            <Prov>{{province}}</Prov>
            <Postal>{{postalCode}}</Postal>
          </Address>
        </Subject>
      </Request>
    </ProcessRequestXML>
  </soap:Body>
</soap:Envelope>
`;
