/** Collection paths of the API; an object's path is its collection's plus its name. */
export const paths = {
  jobs: (namespace: string) => `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/jobs`,
  pods: (namespace: string) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`,
  secrets: (namespace: string) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`,
  events: (namespace: string) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
};

export const named = (collection: string, name: string) => `${collection}/${encodeURIComponent(name)}`;
