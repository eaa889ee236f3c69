// Written by assay site.
(self.assayRuns ??= [])[0] = [["20261121-104450-7f3a","2026-11-21 10:44 UTC","on","on","HB120rs_v3","quick","on","complete","","Triad 42.0 GB/s","on"],["20261121-104451-7f3a","2026-11-21 10:44 UTC","off","off","HB120rs_v3","quick","off","complete","","Triad 42.0 GB/s","off"]];
