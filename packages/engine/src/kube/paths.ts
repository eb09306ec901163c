/** Collection paths of the API; an object's path is its collection's plus its name. */
export const paths = {
  jobs: (namespace: string) => `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/jobs`,
  allJobs: "/apis/batch/v1/jobs",
  pods: (namespace: string) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`,
  secrets: (namespace: string) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`,
  configMaps: (namespace: string) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`,
  claims: (namespace: string) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/persistentvolumeclaims`,
  events: (namespace: string) => `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
  storageClasses: "/apis/storage.k8s.io/v1/storageclasses",
  accessReviews: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
};

export const named = (collection: string, name: string) => `${collection}/${encodeURIComponent(name)}`;
