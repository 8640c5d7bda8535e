// Package foreign starts servers for Azure Cosmos DB that others wrote, for
// tests: what a test finds of them is no echo of this project's own idea of
// the service. [Vercel] needs Node and npm, [Cosmium] the Go command; where
// they are missing the test is skipped, or fails when the environment variable
// CI is set. [Real] is an account that the environment names.
//
// Programs are installed once, below the user's cache directory, and each call
// starts a process of its own on a loopback address that ends with the test.
// Neither server keeps data, and both differ from the service in ways that the
// tests of package cosmostest list.
package foreign
