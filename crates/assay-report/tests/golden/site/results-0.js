// Written by assay site.
(self.assayResults ??= {})["20261121-104455-7f3a"] = {"host":"on","label":"on","results":[["on/copy#1","Copy","","on","no value",null,null,null],["on/triad#1","Triad","node, 8 threads","","42.00 GB/s","41.58–42.34 GB/s",42000000000.0,[41580000000.0,42336000000.0]]],"started":"2026-11-21 10:44 UTC","suite":"quick"};
