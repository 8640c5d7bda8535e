// Package scale turns pictures that a provider refuses into pictures that it takes. [Picture]
// is the Scale of an accept.Target. It decodes them, which package accept does not.
package scale
