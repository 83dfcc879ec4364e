/** The public URLs of the authorization server and the API: issuer and audience of tokens. */
export interface OAuthUrls {
  readonly issuer: string;
  readonly resource: string;
}
